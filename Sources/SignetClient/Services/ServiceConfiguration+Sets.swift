extension ServiceConfiguration {
    /// Stores the common fields and parameters as the set `common`, and then replaces them with
    /// those of the default sets.
    ///
    /// - Throws: `invalid-service`.
    mutating func applyDefaultSets() throws(ClientError) {
        guard sets[RequestDefaults.common] == nil else {
            throw ClientError(
                .invalidService,
                "the set `common` is reserved for commonFields and commonParameters")
        }
        sets[RequestDefaults.common] = RequestDefaults(
            fields: commonFields, parameters: commonParameters)
        try use(defaultSets, code: .invalidService)
    }

    /// Makes some sets the common fields and parameters.
    ///
    /// - Throws: `code` for a set that the service has not.
    mutating func use(_ names: [String], code: ClientError.Code) throws(ClientError) {
        var joined = RequestDefaults()
        for name in names {
            guard let set = sets.first(where: { sameBytes($0.key, name) })?.value
            else { throw ClientError(code, "the service has no set of the name \(name)") }
            joined.join(set)
        }
        (commonFields, commonParameters) = (joined.fields, joined.parameters)
    }
}
