package import SignetJSON

extension RPCParameters {
    /// Encodes values as parameters by name, in their order. A value that is nil is left out.
    ///
    /// ```swift
    /// let limit: Int? = nil
    /// let parameters = try RPCParameters.named(["item": "tea", "limit": limit])  // {"item":"tea"}
    /// ```
    ///
    /// - Throws: `PayloadError` with code `invalid-params` if a value can't be encoded, or if a
    ///   name occurs twice.
    public static func named(
        _ members: KeyValuePairs<String, any Encodable>
    ) throws(PayloadError) -> RPCParameters {
        var object: JSONObject = [:]
        for (name, value) in members {
            guard object[name] == nil else {
                throw .invalidParameters("found two parameters with the same name")
            }
            let json = try encoded(value)
            // A `JSONValue` that is null is sent; only an optional that is nil is left out.
            if json.isNull, !(value is JSONValue) { continue }
            object[name] = json
        }
        return .object(object)
    }

    /// Encodes values as parameters by position. A value that is nil becomes null.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` if a value can't be encoded.
    public static func positional(_ values: [any Encodable]) throws(PayloadError) -> RPCParameters {
        .array(try values.map { (value) throws(PayloadError) in try encoded(value) })
    }

    /// Returns the parameters of a call that a value describes; nil if there aren't any. They are
    /// the associated values of an enum's case, or the `Encodable` form of another value.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` for a value that becomes neither an
    ///   array nor an object, for a case that has associated values with and without labels, and
    ///   for a nil among several values without labels.
    package static func ofCall(_ call: some Encodable) throws(PayloadError) -> RPCParameters? {
        let json = try encoded(call)
        let parameters: RPCParameters
        // Reflection is used only for values that look like an enum case.
        if json.isRawValue || json.onlyObject != nil, let labels = labels(ofCase: call) {
            guard let values = json.onlyObject else { return nil }
            parameters = try ofCase(values, labels: labels)
        } else {
            parameters = try RPCParameters(json)
        }
        return parameters.isEmpty ? nil : parameters
    }

    /// Returns the labels of a case's associated values, nil for a value without one; nil if the
    /// call isn't an enum.
    private static func labels(ofCase call: some Encodable) -> [String?]? {
        let mirror = Mirror(reflecting: call)
        guard mirror.displayStyle == .enum else { return nil }
        guard let values = mirror.children.first?.value else { return [] }
        // A single value without a label is not in a tuple. In a tuple, values without labels are
        // called `.0`, `.1` and so on.
        let tuple = Mirror(reflecting: values)
        guard tuple.displayStyle == .tuple else { return [nil] }
        return tuple.children.map { child in
            child.label.flatMap { $0.utf8.first == UInt8(ascii: ".") ? nil : $0 }
        }
    }

    /// Returns the parameters of a case: values with labels by name, values without by position.
    /// A single array or object without a label becomes all of the parameters.
    private static func ofCase(
        _ values: JSONObject, labels: [String?]
    ) throws(PayloadError) -> RPCParameters {
        guard labels.contains(nil) else { return .object(values) }
        guard labels.allSatisfy({ $0 == nil }) else {
            throw .invalidParameters(
                "found associated values with and without labels, expected all of them with labels, "
                    + "or none")
        }
        if labels.count == 1 {
            guard let value = values.first?.value else { return .array([]) }
            return (try? RPCParameters(value)) ?? .array([value])
        }
        // A nil isn't encoded, so the values after it would move.
        guard values.count == labels.count else {
            throw .invalidParameters(
                "found an associated value without a label that is nil, expected a label")
        }
        return .array(values.map(\.value))
    }

    /// Encodes a value, by the conventions of the call unless others are given.
    static func encoded(
        _ value: some Encodable, conventions: JSONConventions? = nil
    ) throws(PayloadError) -> JSONValue {
        do {
            return try StrictJSONEncoder(conventions: conventions ?? .ofCall).encodeValue(value)
        } catch {
            throw .invalidParameters("the parameters cannot be encoded: \(error.message)")
        }
    }
}

extension JSONConventions {
    /// The conventions for dates and names of the call whose request is being made.
    @TaskLocal package static var ofCall = JSONConventions()

    /// Makes a call's request with the conventions of the call.
    package static func using<Request>(
        _ conventions: JSONConventions, make: () throws(PayloadError) -> Request
    ) throws(PayloadError) -> Request {
        try $ofCall.withValue(conventions) {
            Result { () throws(PayloadError) in try make() }
        }.get()
    }
}

extension JSONValue {
    fileprivate var isRawValue: Bool { string != nil || number != nil }

    /// The value of the only member, if that is an object.
    fileprivate var onlyObject: JSONObject? {
        guard let object, object.count == 1 else { return nil }
        return object[0].value.object
    }
}
