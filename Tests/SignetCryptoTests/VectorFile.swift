import Foundation
import SignetJSON
import TestSupport

/// A file of vectors, read with the package's own strict reader.
enum VectorFile {
    /// The vectors of a file of this module; the file names its source.
    ///
    /// None at all is an error, so that no test passes for want of vectors.
    static func load(_ name: String) throws -> [JSONObject] {
        guard let url = Bundle.module.url(forResource: "Vectors/\(name)", withExtension: "json"),
            let vectors = objects(url)["vectors"]?.array?.compactMap(\.object), !vectors.isEmpty
        else { throw TestSupportError("no vectors in Vectors/\(name).json") }
        return vectors
    }

    /// The tests of a Wycheproof file, each with its group's sizes; none if the file is absent.
    static func wycheproof(_ name: String) -> [JSONObject] {
        wycheproofGroups(name).flatMap { group in
            (group["tests"]?.array ?? []).compactMap(\.object).map { test in
                var test = test
                for name in ["keySize", "ivSize", "tagSize"] { test[name] = group[name] }
                return test
            }
        }
    }

    /// The groups of a Wycheproof file, each with its tests; none if the file is absent.
    static func wycheproofGroups(_ name: String) -> [JSONObject] {
        guard let folder = SharedVectors.directory else { return [] }
        let groups = objects(folder.appending(path: "wycheproof/\(name).json"))["testGroups"]?.array
        return (groups ?? []).compactMap(\.object)
    }

    private static func objects(_ url: URL) -> JSONObject {
        guard let data = try? Data(contentsOf: url),
            let value = try? JSONValue(parsing: [UInt8](data))
        else { return [:] }
        return value.object ?? [:]
    }
}

extension JSONObject {
    /// A member's text, or none.
    func text(_ name: String) -> String { self[name]?.string ?? "" }

    /// A member's number, or -1.
    func number(_ name: String) -> Int { Int(self[name]?.number?.int64 ?? -1) }

    /// A member's hexadecimal digits as bytes.
    func hex(_ name: String) -> [UInt8] { bytes(ofHex: text(name)) }
}
