import SignetBase
import SignetCrypto
import SignetSystem

extension SigningScheme {
    /// Whether a scheme's name is a path of a document: not a built-in name, and with a slash or a
    /// dot.
    package static func isFile(_ name: String) -> Bool {
        !names.contains { sameBytes($0, name) }
            && (name.contains("/") || name.contains("."))
    }

    /// Creates the scheme that `--scheme NAME|FILE` or a service's configuration names.
    ///
    /// - Parameters:
    ///   - name: A built-in name, or the path of a document.
    ///   - insecure: Whether a scheme with MD5 or SHA-1 is accepted.
    /// - Throws: `SigningError`, which names the file for an error in a document, and
    ///   `FileFailure`.
    package init(nameOrFile name: String, insecure: Bool) throws {
        guard Self.isFile(name) else {
            do throws(SigningError) {
                try self.init(named: name, insecure: insecure)
            } catch {
                guard error.code == .unknownScheme else { throw error }
                throw Self.unknown(name, otherwise: ", or a file's path with a dot or a slash")
            }
            return
        }
        try self.init(file: name, insecure: insecure)
    }

    /// Creates a scheme from a file. The message of an error names the file.
    ///
    /// - Throws: `SigningError` and `FileFailure`.
    package init(file: String, insecure: Bool) throws {
        let document = try InputFile.read(file, limit: 1 << 20)
        do throws(SigningError) {
            try self.init(document: document, insecure: insecure)
        } catch {
            throw SigningError(error.code, "\(printable(file)): \(error.message)")
        }
    }

    /// Splits settings into those of the scheme and, for `rfc9421`, the types of fields:
    /// `sf.FIELD=dictionary|list|item`.
    ///
    /// - Throws: `invalid-value` for an unknown type.
    package func split(
        _ settings: [String: String]
    ) throws(SigningError) -> (values: [String: String], fieldTypes: StructuredFieldTypes) {
        var values: [String: String] = [:]
        var types = StructuredFieldTypes()
        for (name, value) in settings {
            guard self == .rfc9421, name.startsWithBytes(of: "sf."), name.utf8.count > 3 else {
                values[name] = value
                continue
            }
            guard let type = StructuredFieldType(rawValue: value) else {
                throw SigningError(
                    .invalidValue,
                    "the setting \(printable(name)): expected dictionary, list or item")
            }
            types[String(name.dropFirst(3))] = type
        }
        return (values, types)
    }
}
