import Foundation
import SignetCrypto
import SignetJSON
import SignetVault
import Testing

/// Returns a schema with keys in JSON.
func schema(_ keys: String) throws -> Schema {
    try Schema(parsing: Array(#"{"keys":\#(keys)}"#.utf8))
}

/// Returns an input in JSON.
func json(_ text: String) -> ConfigurationInput { .json(Array(text.utf8)) }

/// Returns the code of the error that the work throws, or nil if it throws no `VaultError`.
func code(of work: () throws -> Void) -> String? {
    error(of: work)?.code.name
}

/// Returns the error that the work throws.
func error(of work: () throws -> Void) -> VaultError? {
    do {
        try work()
        return nil
    } catch {
        return error as? VaultError
    }
}

/// Reads a file of this target's vectors.
func vector(_ name: String) throws -> JSONValue {
    let url = Bundle.module.url(forResource: "Vectors/\(name)", withExtension: nil)
    return try JSONValue(parsing: [UInt8](Data(contentsOf: try #require(url))))
}
