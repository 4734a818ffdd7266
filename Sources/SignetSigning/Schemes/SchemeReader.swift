internal import SignetCrypto
internal import SignetJSON

/// One object of a scheme document; its errors name the place.
struct SchemeReader {
    let object: JSONObject
    let place: String

    init(_ object: JSONObject, at place: String) {
        self.object = object
        self.place = place
    }

    init(_ value: JSONValue, at place: String) throws(SigningError) {
        guard let object = value.object else {
            throw SigningError(
                .malformedScheme, "\(place): found \(value.typeName), wanted an object")
        }
        self.init(object, at: place)
    }

    func malformed(_ problem: String) -> SigningError {
        SigningError(.malformedScheme, "\(place): \(problem)")
    }

    /// Refuses members that nobody knows.
    func demand(_ known: [String]) throws(SigningError) {
        for name in object.memberNames
        where !known.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
            throw malformed("unknown member \"\(printable(name))\"")
        }
    }

    func has(_ member: String) -> Bool { object[member] != nil }

    func value(_ member: String) throws(SigningError) -> JSONValue {
        guard let value = object[member] else { throw malformed("\"\(member)\" is missing") }
        return value
    }

    func optionalText(_ member: String) throws(SigningError) -> String? {
        guard let value = object[member] else { return nil }
        guard let text = value.string else {
            throw malformed("\"\(member)\" is \(value.typeName), wanted a text")
        }
        return text
    }

    func text(_ member: String) throws(SigningError) -> String {
        guard let text = try optionalText(member) else {
            throw malformed("\"\(member)\" is missing")
        }
        return text
    }

    func flag(_ member: String) throws(SigningError) -> Bool {
        guard let value = object[member] else { return false }
        guard case .bool(let flag) = value else {
            throw malformed("\"\(member)\" is \(value.typeName), wanted true or false")
        }
        return flag
    }

    func integer(_ member: String) throws(SigningError) -> Int64 {
        guard let integer = try value(member).number?.int64 else {
            throw malformed("\"\(member)\" must be a whole number")
        }
        return integer
    }

    func array(_ member: String) throws(SigningError) -> [JSONValue] {
        guard let array = try value(member).array else {
            throw malformed("\"\(member)\" must be a list")
        }
        return array
    }

    func optionalTexts(_ member: String) throws(SigningError) -> [String]? {
        guard has(member) else { return nil }
        let array = try array(member)
        let texts = array.compactMap(\.string)
        guard texts.count == array.count else {
            throw malformed("\"\(member)\" must be a list of texts")
        }
        return texts
    }

    func texts(_ member: String) throws(SigningError) -> [String] {
        guard let texts = try optionalTexts(member), !texts.isEmpty else {
            throw malformed("\"\(member)\" must be a list of at least one text")
        }
        return texts
    }

    func optionalObject(_ member: String) throws(SigningError) -> SchemeReader? {
        guard let value = object[member] else { return nil }
        return try SchemeReader(value, at: "\(place).\(member)")
    }

    func requiredObject(_ member: String) throws(SigningError) -> SchemeReader {
        try SchemeReader(value(member), at: "\(place).\(member)")
    }

    /// The case of a name.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ text: String, _ member: String
    ) throws(SigningError) -> Choice where Choice.RawValue == String {
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw malformed("\"\(member)\" must be one of \(known)")
        }
        return choice
    }
}
