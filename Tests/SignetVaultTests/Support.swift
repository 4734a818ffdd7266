import Foundation
import SignetCrypto
import SignetJSON
import SignetVault
import Testing

/// A schema from its keys' JSON.
func schema(_ keys: String) throws -> Schema {
    try Schema(parsing: Array(#"{"keys":\#(keys)}"#.utf8))
}

/// An input from its JSON.
func json(_ text: String) -> ConfigurationInput { .json(Array(text.utf8)) }

/// The code of the error that the work throws, or nil where it throws none of ours.
func code(of work: () throws -> Void) -> String? {
    error(of: work)?.code.name
}

/// The error that the work throws.
func error(of work: () throws -> Void) -> VaultError? {
    do {
        try work()
        return nil
    } catch {
        return error as? VaultError
    }
}

/// A file of this target's vectors.
func vector(_ name: String) throws -> JSONValue {
    let url = Bundle.module.url(forResource: "Vectors/\(name)", withExtension: nil)
    return try JSONValue(parsing: [UInt8](Data(contentsOf: try #require(url))))
}
