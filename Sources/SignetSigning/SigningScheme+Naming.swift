internal import SignetCrypto

extension SigningScheme {
    /// Whether a text that names a scheme names a document's file: it is no built-in name, and holds
    /// a slash or a point.
    package static func isFile(_ name: String) -> Bool {
        !names.contains { $0.utf8.elementsEqual(name.utf8) }
            && (name.contains("/") || name.contains("."))
    }

    /// Finds a scheme as `--scheme NAME|FILE` and a service's configuration name it.
    ///
    /// - Parameters:
    ///   - name: A built-in name, or the path of a document.
    ///   - insecure: Whether one that signs with MD5 or SHA-1 is taken.
    /// - Throws: `SigningError`, which for a document's mistakes names the file, and `FileFailure`.
    package init(nameOrFile name: String, insecure: Bool) throws {
        guard Self.isFile(name) else {
            self =
                insecure
                ? try .Insecure.scheme(named: name) : try SigningScheme(named: name)
            return
        }
        try self.init(file: name, insecure: insecure)
    }

    /// Reads a document's file; an error names it.
    ///
    /// - Throws: `SigningError` and `FileFailure`.
    package init(file: String, insecure: Bool) throws {
        let document = try InputFile.read(file, limit: 1 << 20)
        do throws(SigningError) {
            self =
                insecure
                ? try .Insecure.scheme(document: document) : try SigningScheme(document: document)
        } catch {
            throw SigningError(error.code, "\(printable(file)): \(error.message)")
        }
    }

    /// Takes the types of fields, `sf.FIELD=dictionary|list|item`, out of the settings of `rfc9421`;
    /// all else is the scheme's to take or to refuse.
    ///
    /// - Throws: `invalid-value` for a type that is none.
    package func split(
        _ settings: [String: String]
    ) throws(SigningError) -> (values: [String: String], fieldTypes: StructuredFieldTypes) {
        var values: [String: String] = [:]
        var types = StructuredFieldTypes()
        for (name, value) in settings {
            guard self == .rfc9421, name.hasPrefix("sf."), name.utf8.count > 3 else {
                values[name] = value
                continue
            }
            guard let type = StructuredFieldType(rawValue: value) else {
                throw SigningError(
                    .invalidValue,
                    "the setting \(printable(name)) must be dictionary, list or item")
            }
            types[String(name.dropFirst(3))] = type
        }
        return (values, types)
    }
}
