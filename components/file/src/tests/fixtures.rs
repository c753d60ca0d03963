//! Generated files for tests.

use std::io::Write as _;

/// The header of a GIF of 3 by 2 pixels.
pub(super) const GIF: &[u8] = b"GIF89a\x03\x00\x02\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00;";
/// The header of a PNG of 4 by 5 pixels.
pub(super) const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x04\0\0\0\x05\x08\x06\0\0\0\x01\x02\x03\x04";

/// A PDF with the given content streams as pages, with Helvetica as `/F`.
pub(super) fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut file = Pdf::default();
    let kids: Vec<String> = (0..pages.len())
        .map(|page| format!("{} 0 R", 4 + page * 2))
        .collect();
    file.object("<< /Type /Catalog /Pages 2 0 R >>");
    file.object(&format!(
        "<< /Type /Pages /Kids [{}] /Count {} >>",
        kids.join(" "),
        pages.len()
    ));
    file.object(
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    );
    for (number, content) in pages.iter().enumerate() {
        file.object(&format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents {} 0 R /Resources << /Font << /F 3 0 R >> >> >>",
            5 + number * 2
        ));
        file.stream("", content.as_bytes());
    }
    file.finish()
}

/// A PDF with one compressed page in a two-byte font with a ToUnicode map.
pub(super) fn composite_pdf() -> Vec<u8> {
    let map = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n\
               1 begincodespacerange <0000> <FFFF> endcodespacerange\n\
               2 beginbfchar <0001> <65E5> <0002> <D83DDE00> endbfchar endcmap end end";
    let mut file = Pdf::default();
    file.object("<< /Type /Catalog /Pages 2 0 R >>");
    file.object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
    file.object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>");
    file.packed(b"BT /F 10 Tf 10 100 Td <00010002> Tj ET");
    file.object("<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>");
    file.object("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /DW 1000 /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor << /Type /FontDescriptor /FontName /X /Flags 4 >> >>");
    file.packed(map.as_bytes());
    file.finish()
}

#[derive(Default)]
struct Pdf {
    bytes: Vec<u8>,
    places: Vec<usize>,
}

impl Pdf {
    fn object(&mut self, body: &str) {
        self.raw(body.as_bytes());
    }

    fn stream(&mut self, filter: &str, data: &[u8]) {
        let head = format!("<< {filter} /Length {} >>\nstream\n", data.len());
        self.raw(&[head.as_bytes(), data, b"\nendstream"].concat());
    }

    fn packed(&mut self, data: &[u8]) {
        self.stream("/Filter /FlateDecode", &packed(data));
    }

    fn raw(&mut self, body: &[u8]) {
        if self.bytes.is_empty() {
            self.bytes.extend_from_slice(b"%PDF-1.7\n");
        }
        self.places.push(self.bytes.len());
        let number = self.places.len();
        self.bytes
            .extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        self.bytes.extend_from_slice(body);
        self.bytes.extend_from_slice(b"\nendobj\n");
    }

    fn finish(mut self) -> Vec<u8> {
        let begin = self.bytes.len();
        let count = self.places.len() + 1;
        let mut table = format!("xref\n0 {count}\n0000000000 65535 f \n");
        for place in &self.places {
            table.push_str(&format!("{place:010} 00000 n \n"));
        }
        table.push_str(&format!(
            "trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{begin}\n%%EOF\n"
        ));
        self.bytes.extend_from_slice(table.as_bytes());
        self.bytes
    }
}

/// Compresses bytes with zlib.
pub(super) fn packed(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(data).expect("memory");
    encoder.finish().expect("memory")
}
