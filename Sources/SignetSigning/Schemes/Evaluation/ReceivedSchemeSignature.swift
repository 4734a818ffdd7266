import SignetBase
import SignetCrypto

/// A scheme's signature as read from a message, before it is verified.
struct ReceivedSchemeSignature {
    /// The decoded signatures; a list can contain several.
    private(set) var signatures: [[UInt8]] = []
    private(set) var keyID: String?
    private(set) var nonce: String?
    private(set) var time: Int64?
    /// The digits of the fraction of the time's second, if a place has them.
    private(set) var fraction: [UInt8]?
    private(set) var lifetime: Int64?
    private(set) var headerNames: [[UInt8]]?
    /// The values that must equal what the scheme computes for the message.
    private(set) var claimed: [SchemeTemplate.Capture] = []

    /// Reads all slots of a scheme.
    ///
    /// - Throws: `no-signature` or `missing-component` for a missing slot, `malformed-signature`
    ///   for a text that does not match, `not-covered` if the signature does not list a required
    ///   field.
    init(
        of message: SignableMessage, scheme: ConfiguredScheme
    ) throws(SigningError) {
        let compiled = scheme.compiled
        claimed.reserveCapacity(8)
        for slot in scheme.placements {
            try read(slot, of: message, scheme: compiled, missing: .noSignature)
        }
        for slot in scheme.injections {
            try read(slot, of: message, scheme: compiled, missing: .missingComponent)
        }
        guard !signatures.isEmpty else {
            throw SigningError(.noSignature, "the message has no signature by \(compiled.name)")
        }
        guard signatures.count <= 8 else {
            throw SigningError(
                .malformedSignature,
                "found \(signatures.count) signatures in one list, expected at most 8")
        }
    }

    /// Returns the text in a location, or `nil` if it is missing.
    private static func text(
        in location: CompiledScheme.Location, of message: SignableMessage
    ) throws(SigningError) -> [UInt8]? {
        var found: [UInt8]?
        func add(_ value: [UInt8]) throws(SigningError) {
            guard found == nil else {
                throw SigningError(.malformedSignature, "found \(location.name) more than once")
            }
            found = value
        }
        switch location {
        case .header(let name):
            let fields = message.fields
            // Indices, because a loop over the fields would copy each.
            for index in fields.indices where fields[index].name.isSame(ignoringCaseOf: name) {
                try add(fields[index].value)
            }
        case .query(let name): for value in message.queryValues(of: name) { try add(value) }
        case .form(let name): for value in try message.formValues(of: name) { try add(value) }
        case .xml(let name):
            for child in try message.xmlChildren() where child.name == name {
                try add(child.value)
            }
        }
        return found
    }

    private mutating func read(
        _ slot: CompiledScheme.Slot, of message: SignableMessage, scheme: CompiledScheme,
        missing: SigningError.Code
    ) throws(SigningError) {
        var isFound = false
        for location in slot.locations {
            guard let text = try Self.text(in: location, of: message) else { continue }
            isFound = true
            try read(text, of: slot, in: location, scheme: scheme)
        }
        guard isFound else {
            let names = slot.locations.map(\.name).joined(separator: " or ")
            throw SigningError(missing, "the message has no \(names) for \(scheme.name)")
        }
    }

    private mutating func read(
        _ text: [UInt8], of slot: CompiledScheme.Slot, in location: CompiledScheme.Location,
        scheme: CompiledScheme
    ) throws(SigningError) {
        var malformed: SigningError {
            SigningError(
                .malformedSignature,
                "\(location.name): the text does not match, expected \(printable(slot.shape))")
        }
        guard let separator = slot.separator else {
            guard let captures = slot.templates[0].match(text[...]) else { throw malformed }
            return try receive(captures, in: location, scheme: scheme)
        }
        let entries = text.split(separator: separator[0]).map { $0.trimmingBlanks() }
        guard entries.count <= 64 else { throw malformed }
        for template in slot.templates {
            // Ignore entries that match no template, such as those of other versions. Only the
            // signature may occur several times.
            let found = entries.compactMap(template.match)
            let isSignature = template.sources.contains(.signature)
            guard isSignature || found.count == 1 else { throw malformed }
            for captures in found { try receive(captures, in: location, scheme: scheme) }
        }
    }

    private mutating func receive(
        _ captures: [SchemeTemplate.Capture], in location: CompiledScheme.Location,
        scheme: CompiledScheme
    ) throws(SigningError) {
        func malformed(_ problem: String) -> SigningError {
            SigningError(.malformedSignature, "\(location.name): \(problem)")
        }
        func text(
            _ value: ArraySlice<UInt8>, named name: String
        ) throws(SigningError) -> String {
            guard value.count <= 256, value.allSatisfy(\.isVisible) else {
                throw malformed("\(name) must be visible ASCII of at most 256 bytes")
            }
            return String(decoding: value, as: UTF8.self)
        }
        func store<Value: Equatable>(
            _ found: Value, in known: inout Value?, named names: String
        ) throws(SigningError) {
            guard known == nil || known == found else {
                throw malformed("found two different \(names)")
            }
            known = found
        }
        for capture in captures {
            let value = capture.value
            switch capture.source {
            case .signature:
                guard let signature = scheme.encoding.decode(value) else {
                    throw malformed("the signature is not valid \(scheme.encoding.rawValue)")
                }
                guard !scheme.usesDER || DERSignature(signature) != nil else {
                    throw malformed("the signature is not the DER of an ECDSA signature")
                }
                signatures.append(signature)
            case .keyID:
                try store(text(value, named: "the key ID"), in: &keyID, named: "key IDs")
            case .nonce:
                try store(text(value, named: "the nonce"), in: &nonce, named: "nonces")
                guard !value.contains(where: scheme.nonce.forbidden.contains) else {
                    throw malformed("the nonce contains a byte that the scheme forbids")
                }
            case .time(let format) where format.isWhole:
                let digits = Array(value)
                guard let found = format.time(of: digits) else {
                    throw malformed("the time is malformed, or not in the years 1970 to 9999")
                }
                try store(found, in: &time, named: "times")
                fraction = format.fraction(of: digits) ?? fraction
                claimed.append(capture)
            case .lifetime:
                guard let found = SchemeTime.unix.time(of: Array(value)),
                    (1...SchemeLimits.lifetime).contains(found)
                else {
                    throw malformed("the lifetime must be 1 to \(SchemeLimits.lifetime) seconds")
                }
                try store(found, in: &lifetime, named: "lifetimes")
            case .headerNames:
                try store(
                    names(value, scheme: scheme, malformed: malformed), in: &headerNames,
                    named: "lists of signed fields")
            default: claimed.append(capture)
            }
        }
    }

    /// Parses the names of the covered fields, which must be lowercase, sorted and distinct, and
    /// must include the required fields.
    private func names(
        _ text: ArraySlice<UInt8>, scheme: CompiledScheme, malformed: (String) -> SigningError
    ) throws(SigningError) -> [[UInt8]] {
        var names: [[UInt8]] = []
        names.reserveCapacity(16)
        var start = text.startIndex
        var isValid = true
        // Ends at the first invalid name, or after the last one.
        while isValid, start <= text.endIndex {
            let end = text[start...].firstIndex(of: ASCII.semicolon) ?? text.endIndex
            let name = Array(text[start..<end])
            isValid =
                !name.isEmpty && name.allSatisfy { $0.isToken && $0.lowercased == $0 }
                && names.last?.lexicographicallyPrecedes(name) != false
                && names.count < SignedFields.maximumCount
            names.append(name)
            start = end + 1
        }
        guard isValid else {
            throw malformed(
                "the names of the signed fields must be lowercase, sorted, distinct and at most "
                    + "\(SignedFields.maximumCount)")
        }
        for name in scheme.headers?.required ?? [] where !names.contains(name) {
            throw Self.notCovered(name)
        }
        return names
    }

    static func notCovered(_ name: [UInt8]) -> SigningError {
        SigningError(.notCovered, "\(String(decoding: name, as: UTF8.self)) is not covered")
    }
}

extension CompiledScheme.Location {
    /// The location in words, for error messages.
    var name: String {
        switch self {
        case .header(let name): "field \(name)"
        case .query(let name): "query parameter \(String(decoding: name, as: UTF8.self))"
        case .form(let name): "form parameter \(String(decoding: name, as: UTF8.self))"
        case .xml(let name): "element \(String(decoding: name, as: UTF8.self))"
        }
    }
}
