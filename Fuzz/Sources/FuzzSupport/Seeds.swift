import Foundation
public import SignetJSON

/// Where a corpus begins: the folder that Scripts/fuzz names.
public enum Seeds {
    /// Writes inputs into the folder of `SIGNET_FUZZ_SEEDS`, which libFuzzer reads afterwards.
    public static func write(_ inputs: [(name: String, bytes: [UInt8])]) {
        guard let folder = ProcessInfo.processInfo.environment["SIGNET_FUZZ_SEEDS"] else { return }
        for input in inputs {
            let url = URL(filePath: folder).appending(path: input.name)
            do {
                try Data(input.bytes).write(to: url)
            } catch {
                broken("a seed cannot be written: \(error)")
            }
        }
    }

    /// The vectors that the tests use, where they lie beside: the files of a folder of the checkout.
    public static func files(
        in folder: String, named suffix: String
    ) -> [(name: String, bytes: [UInt8])] {
        guard let root = ProcessInfo.processInfo.environment["SIGNET_FUZZ_ROOT"] else { return [] }
        let url = URL(filePath: root).appending(path: folder)
        let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)
        var found: [(String, [UInt8])] = []
        while let file = files?.nextObject() as? URL {
            guard file.path.hasSuffix(suffix), let data = try? Data(contentsOf: file) else {
                continue
            }
            let name = file.path.dropFirst(url.path.count).replacing("/", with: "_")
            found.append(("file\(name)", Array(data)))
        }
        return found
    }

    /// Every text in a vector file of the checkout, and every array and object in it that is not too large.
    public static func values(
        in file: String, atMost limit: Int = 4096
    ) -> [(name: String, bytes: [UInt8])] {
        guard let document = document(file) else { return [] }
        var found: Set<[UInt8]> = []
        func add(_ value: JSONValue) {
            if let text = value.string {
                found.insert(Array(text.utf8))
                if let bytes = Data(base64Encoded: text) { found.insert(Array(bytes)) }
            } else if value.array != nil || value.object != nil {
                found.insert(value.serialized())
            }
            for element in value.array ?? [] { add(element) }
            for (_, member) in value.object ?? [:] { add(member) }
        }
        add(document)
        let folder = file.replacing("/", with: "_")
        return found.filter { $0.count <= limit }.sorted { $0.lexicographicallyPrecedes($1) }
            .enumerated().map { ("\(folder)-\($0)", $1) }
    }

    /// A JSON file of the checkout.
    public static func document(_ file: String) -> JSONValue? {
        guard let root = ProcessInfo.processInfo.environment["SIGNET_FUZZ_ROOT"],
            let data = try? Data(contentsOf: URL(filePath: root).appending(path: file))
        else { return nil }
        return try? JSONValue(parsing: Array(data))
    }

    /// Texts that a target names itself.
    public static func texts(_ texts: [String]) -> [(name: String, bytes: [UInt8])] {
        texts.enumerated().map { ("text-\($0)", Array($1.utf8)) }
    }
}

/// Ends the run: an invariant does not hold for this input, which libFuzzer keeps.
public func broken(_ words: String) -> Never {
    FileHandle.standardError.write(Data("fuzz: \(words)\n".utf8))
    preconditionFailure(words)
}

/// The bytes that libFuzzer lends for one run.
public func input(_ data: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    unsafe Array(UnsafeBufferPointer(start: data, count: count))
}
