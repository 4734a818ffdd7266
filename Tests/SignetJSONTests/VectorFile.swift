import Foundation

/// A file of cases below Vectors, read with Foundation so that our own reader is not its own judge.
struct VectorFile<Case: Decodable & Sendable>: Decodable, Sendable {
    let source: String
    let cases: [Case]

    static func load(_ name: String) -> [Case] {
        guard let url = Bundle.module.url(forResource: "Vectors/\(name)", withExtension: "json"),
            let data = try? Data(contentsOf: url),
            let file = try? JSONDecoder().decode(Self.self, from: data)
        else { return [] }
        return file.cases
    }
}

/// Bytes of a text.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
