import Foundation
import TestSupport
import Testing

/// A program sees nothing of what is below the client.
@Suite struct InterfaceTests {
    /// A type of a module can be part of the interface only if the module is imported publicly.
    @Test(.features("003-01", "004-03")) func namesOnlyModulesThatItReExports() throws {
        let files = FileManager.default.enumerator(
            at: PackageLayout.url("Sources/SignetClient"), includingPropertiesForKeys: nil)
        var (visible, exported) = (Set<Substring>(), Set<Substring>())
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.starts(with: ["public", "import"]) {
                    visible.insert(words[words.count - 1])
                }
                if words.starts(with: ["@_exported", "public", "import"]) {
                    exported.insert(words[3])
                }
            }
        }
        #expect(exported.contains("SignetTransport"))
        #expect(exported.isDisjoint(with: ["SignetCurl", "CSignetLibcurl"]))
        // SignetTransport re-exports SignetBase, and a program gives its own logger.
        #expect(visible.subtracting(exported) == ["Logging", "SignetBase"])
    }

    /// A call that was started can be named, cancelled and waited for, and nothing else.
    @Test(.features("001-11")) func aHandleHasNumberCancelAndOutcome() throws {
        let file = PackageLayout.url("Sources/SignetClient/Calls/CallHandle.swift")
        let members = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .filter { !$0.contains("///") && $0.contains("public ") }
            .map { line in
                line.split(separator: " ").drop { $0 != "public" }.dropFirst().prefix(2)
                    .map { $0.prefix { $0.isLetter } }.joined(separator: " ")
            }
        #expect(members == ["final class", "let id", "func cancel", "var response"])
        let files = FileManager.default.enumerator(
            at: PackageLayout.url("Sources"), includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains("extension CallHandle"), "\(file.lastPathComponent)")
        }
    }
}
