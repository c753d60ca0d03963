//! Minimal images, each of another color.

/// A PNG of one pixel.
pub(crate) fn png(number: usize) -> Vec<u8> {
    let [red, green, blue, ..] = (number as u32).wrapping_mul(0x9E37_79B1).to_le_bytes();
    let mut image = b"\x89PNG\r\n\x1a\n".to_vec();
    // One pixel, eight bits each for red, green and blue.
    chunk(
        &mut image,
        b"IHDR",
        &[0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0],
    );
    let line = [0, red, green, blue];
    // zlib with one stored block.
    let mut data = vec![0x78, 0x01, 0x01, 4, 0, !4, !0];
    data.extend(line);
    data.extend(adler(&line).to_be_bytes());
    chunk(&mut image, b"IDAT", &data);
    chunk(&mut image, b"IEND", &[]);
    image
}

fn chunk(image: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    image.extend((data.len() as u32).to_be_bytes());
    let from = image.len();
    image.extend(kind);
    image.extend(data);
    let sum = checksum(&image[from..]);
    image.extend(sum.to_be_bytes());
}

/// CRC-32, as used by PNG.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 {
                0xEDB8_8320 ^ (sum >> 1)
            } else {
                sum >> 1
            }
        })
    })
}

/// Adler-32, as used by zlib.
fn adler(bytes: &[u8]) -> u32 {
    let (low, high) = bytes.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    high << 16 | low
}

#[cfg(test)]
mod tests {
    #[test]
    fn checksums_match_known_values() {
        assert_eq!(super::checksum(b"123456789"), 0xCBF4_3926);
        assert_eq!(super::adler(b"Wikipedia"), 0x11E6_0398);
    }
}
