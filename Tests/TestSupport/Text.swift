/// Returns a text's bytes.
package func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Returns the text of bytes in UTF-8.
package func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
