#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetSystem
import SignetVault

/// The words that a shell offers where the configuration's keys are expected.
enum KeyCompletion {
    /// The keys of the schema.
    static var keys: CompletionKind { .custom { words, _, _ in safe(schemaKeys(for: words)) } }

    /// The same, or without a schema the files, of which the first is the dump.
    static var keysOrDump: CompletionKind {
        .custom { words, _, word in
            let keys = schemaKeys(for: words)
            return safe(keys.isEmpty ? files(for: word) : keys)
        }
    }

    /// Reads the keys from the schema that the command line or the project names. Opens no dump.
    private static func schemaKeys(for words: [String]) -> [String] {
        func value(_ option: String) -> String? {
            words.firstIndex(of: option).flatMap { words.dropFirst($0 + 1).first }
        }
        let path = value("--schema") ?? projectSchema(named: value("--project"))
        return path.flatMap { $0 == "-" ? nil : try? Schema(contentsOf: $0).keys } ?? []
    }

    private static func projectSchema(named path: String?) -> String? {
        if let path = path ?? (try? Project.variable("SIGNET_PROJECT")) {
            return try? Project(named: path).schemaFile
        }
        return (try? ProjectOptions.found()).flatMap {
            try? Project.found($0).schemaFile
        }
    }

    private static func files(for word: String) -> [String] {
        let folder = word.lastIndex(of: "/").map { String(word[...$0]) } ?? ""
        let names = (try? Folder.names(of: folder.isEmpty ? "." : folder)) ?? []
        return names.map { folder + $0 }
    }

    /// Returns the words that no shell expands. The bash script gives words to `compgen -W`, which
    /// runs the commands of `$(…)`, and the schema may be somebody else's.
    private static func safe(_ words: [String]) -> [String] {
        words.filter { word in
            !word.startsWithBytes(of: "-")
                && word.utf8.allSatisfy {
                    $0.isLetterOrDigit || "._-/@+".utf8.contains($0)
                }
        }
    }
}
#endif
