// The component's exports: the domain, connected to the host's interfaces. It is the same for every domain.
import * as host from "notehost:domain/host@1.0.0-rc.1";
import * as index from "notehost:domain/index@1.0.0-rc.1";
import * as log from "notehost:domain/log@1.0.0-rc.1";
import * as store from "notehost:domain/store@1.0.0-rc.1";
import { consoleTo, expose } from "./notehost.js";
import definition from "./domain.js";

globalThis.console = consoleTo(log);

export const domain = expose(definition, { host, index, log, store });
