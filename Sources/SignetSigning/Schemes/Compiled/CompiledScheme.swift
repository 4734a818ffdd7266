import SignetBase
import SignetCrypto
import SignetJSON

/// A parsed and checked scheme document.
///
/// ``SchemeParser`` parses a document into the parts of a compiled scheme, ``ConfiguredScheme``
/// applies the settings of one signer or verifier, and ``SchemeEvaluator`` evaluates it for one
/// message.
final class CompiledScheme: Sendable {
    /// A parameter that a program passes besides the message and the key.
    struct Setting: Sendable {
        let name: String
        let isRequired: Bool
        let allowed: [[UInt8]]?
        let fallback: [UInt8]?
    }

    /// Decides by the settings whether a part of the document applies.
    struct Condition: Sendable {
        enum Expected: Sendable {
            case value([UInt8])
            case presence(Bool)
        }
        /// All of these must hold; a setting is given by its index.
        let tests: [(setting: Int, expected: Expected)]

        static let always = Condition(tests: [])

        func holds(_ settings: [[UInt8]?]) -> Bool {
            tests.allSatisfy { test in
                switch test.expected {
                case .value(let value): settings[test.setting] == value
                case .presence(let isPresent): (settings[test.setting] != nil) == isPresent
                }
            }
        }
    }

    /// An encoding of bytes as text.
    enum Encoding: String, Sendable, CaseIterable {
        case hex
        case upperHex = "hex-upper"
        case base64
        case base64URL = "base64url"
    }

    /// A part of the signed text.
    indirect enum Step: Sendable {
        case template(SchemeTemplate)
        case join([Step], separator: [UInt8])
        case hash(HashFunction, Step, Encoding)
        case path(normalize: Condition?, encodes: Bool)
        case parameters(ParameterRule)
        /// The first step whose condition holds.
        case choice([(Condition, Step)])
    }

    /// A location in a message.
    enum Location: Sendable, Hashable {
        case header(String)
        case query([UInt8])
        /// A parameter of a form body.
        case form([UInt8])
        /// A child of the root element of a flat XML body.
        case xml([UInt8])
    }

    /// A location and the text for it. A signer writes the text, a verifier reads it back.
    ///
    /// A class, because several threads share it: copying a slot counts one reference, not one for
    /// each of its parts.
    final class Slot: Sendable {
        let condition: Condition
        /// The alternative locations, at least one. A signer writes to the first, and a verifier
        /// reads the text in each that the message has.
        let locations: [Location]
        /// One template for the whole text, or one for each entry of a list.
        let templates: [SchemeTemplate]
        /// The separator between the entries of a list; `nil` for a single template.
        let separator: [UInt8]?
        /// The templates as written in the document, for error messages.
        let shape: String

        init(
            condition: Condition, locations: [Location], templates: [SchemeTemplate],
            separator: [UInt8]?, shape: String
        ) {
            self.condition = condition
            self.locations = locations
            self.templates = templates
            self.separator = separator
            self.shape = shape
        }

        /// The location that a signer writes to.
        var location: Location { locations[0] }
    }

    /// Selects the signed fields and says how their lines are written. A class, as a slot is:
    /// copying it counts one reference.
    final class HeaderRule: Sendable {
        let names: [[UInt8]]
        let prefixes: [[UInt8]]
        let selectsAll: Bool
        let except: [[UInt8]]
        let required: [[UInt8]]
        let collapsesSpaces: Bool
        let sortsValues: Bool

        init(
            names: [[UInt8]], prefixes: [[UInt8]], selectsAll: Bool, except: [[UInt8]],
            required: [[UInt8]], collapsesSpaces: Bool, sortsValues: Bool
        ) {
            self.names = names
            self.prefixes = prefixes
            self.selectsAll = selectsAll
            self.except = except
            self.required = required
            self.collapsesSpaces = collapsesSpaces
            self.sortsValues = sortsValues
        }

        /// Returns a rule that excludes these fields too.
        func without(_ fields: [[UInt8]]) -> HeaderRule {
            HeaderRule(
                names: names, prefixes: prefixes, selectsAll: selectsAll, except: except + fields,
                required: required, collapsesSpaces: collapsesSpaces, sortsValues: sortsValues)
        }

        func selects(_ name: [UInt8]) -> Bool {
            if except.contains(name) { return false }
            return selectsAll || names.contains(name) || prefixes.contains(where: name.starts)
        }
    }

    /// Selects the signed parameters and says how they are written.
    struct ParameterRule: Sendable {
        enum Origin: String, Sendable, CaseIterable { case query, form, xml }
        enum Order: String, Sendable, CaseIterable {
            /// The order of the message.
            case none
            /// By name; parameters with the same name keep their order.
            case key
            /// By name, then by value.
            case keyValue = "key-value"
            /// By the written pairs, so that `a1=x` comes before `a=1`.
            case pair
        }
        let origins: [Origin]
        let decodes: Bool
        let encodes: Bool
        let skipsEmpty: Bool
        /// Whether a pair that occurs several times is written once.
        let isUnique: Bool
        let except: [[UInt8]]
        let added: [(name: [UInt8], value: SchemeTemplate)]
        let order: Order
        let assign: [UInt8]
        let separator: [UInt8]
    }

    /// The algorithm that signs the text.
    enum Algorithm: Sendable {
        /// An HMAC over the text. Its key is the secret with a prefix, or is derived from that by
        /// an HMAC over each link of the chain.
        case hmac(
            HMACHash, decoding: SecretDecoding, prefix: [UInt8], chain: [SchemeTemplate])
        /// A hash of the text, with the secret before or after it.
        case hash(HashFunction, before: SchemeTemplate?, after: SchemeTemplate?)
        /// A signature by the key's own algorithm, which must be one of these.
        case asymmetric([SignatureAlgorithm], form: SignatureForm)

        /// The links of the key's chain, or the texts around the secret.
        var templates: [SchemeTemplate] {
            switch self {
            case .hmac(_, _, _, let chain): chain
            case .hash(_, let before, let after): [before, after].compactMap(\.self)
            case .asymmetric: []
            }
        }
    }

    /// The form of the secret in the key's member `k`.
    enum SecretDecoding: String, Sendable, CaseIterable {
        case none
        /// Base64 after the prefix `whsec_` (Standard Webhooks); a secret without it isn't decoded.
        case whsec
    }

    /// The form of an ECDSA signature.
    enum SignatureForm: String, Sendable, CaseIterable {
        /// r, then s, each as long as the curve's order.
        case raw
        /// The DER of RFC 3279, section 2.2.3.
        case der
    }

    /// Says how to make a nonce, and which bytes it must not contain.
    struct NonceRule: Sendable {
        let prefix: [UInt8]
        let byteCount: Int
        let encoding: Encoding
        let forbidden: [UInt8]
    }

    let name: String
    /// The document, as `schemes show` prints it.
    let document: JSONObject
    let settings: [Setting]
    let valueNames: [String]
    let values: [Step]
    let headers: HeaderRule?
    let injections: [Slot]
    let text: Step
    let algorithm: Algorithm
    let encoding: Encoding
    let placements: [Slot]
    /// The XML elements of `place`, which are not signed as parameters.
    let placedElements: Set<[UInt8]>
    let nonce: NonceRule
    let signed: SignedSources

    init(_ parsed: SchemeParser) {
        name = parsed.name
        document = parsed.document
        settings = parsed.settings
        valueNames = parsed.values.map(\.name)
        values = parsed.values.map(\.step)
        var placedFields: [[UInt8]] = []
        var elements: Set<[UInt8]> = []
        // The signature does not cover its own location.
        for location in parsed.placements.flatMap(\.locations) {
            switch location {
            case .header(let name): placedFields.append(name.utf8.map(\.lowercased))
            case .xml(let name): elements.insert(name)
            case .query, .form: break
            }
        }
        headers = parsed.headers?.without(placedFields)
        placedElements = elements
        injections = parsed.injections
        text = parsed.text
        algorithm = parsed.algorithm
        encoding = parsed.encoding
        placements = parsed.placements
        nonce = parsed.nonce
        signed = SignedSources(of: parsed)
    }
}

extension CompiledScheme {
    /// The algorithm that signs, with the reason why it is insecure; `nil` for a secure one. Only
    /// ``SigningScheme/Insecure`` creates an insecure scheme.
    var insecureAlgorithm: String? {
        switch algorithm {
        case .hash(let function, _, _) where function.isBroken:
            "\(function.rawValue), which is broken"
        case .hmac(.sha1, _, _, _): "HMAC with sha1, which is outdated"
        default: nil
        }
    }

    /// Whether a signature is the DER of an ECDSA signature.
    var usesDER: Bool {
        if case .asymmetric(_, .der) = algorithm { true } else { false }
    }

    /// Returns the values of the settings in their order, `nil` for those without a value.
    ///
    /// - Throws: `unsupported-option` for an unknown setting, `missing-option` for a missing
    ///   required one, `invalid-value` for an invalid value.
    func settingValues(_ given: [String: String]) throws(SigningError) -> [[UInt8]?] {
        for name in given.keys.sorted()
        where !settings.contains(where: { sameBytes($0.name, name) }) {
            let known = settings.map(\.name).joined(separator: ", ")
            throw SigningError(
                .unsupportedOption,
                "\(self.name) has no setting \(printable(name)), expected "
                    + (known.isEmpty ? "no settings" : "one of \(known)"))
        }
        var values: [[UInt8]?] = []
        for setting in settings {
            guard let text = given[setting.name] else {
                guard !setting.isRequired else {
                    throw SigningError(.missingOption, "\(name) needs the setting \(setting.name)")
                }
                values.append(setting.fallback)
                continue
            }
            let value = Array(text.utf8)
            guard !value.isEmpty, value.allSatisfy(\.isVisible) else {
                throw SigningError(
                    .invalidValue,
                    "\(name): the setting \(setting.name) must be visible ASCII without spaces")
            }
            if let allowed = setting.allowed, !allowed.contains(value) {
                let options = allowed.map { String(decoding: $0, as: UTF8.self) }
                throw SigningError(
                    .invalidValue,
                    "\(name): the setting \(setting.name) must be one of "
                        + options.joined(separator: ", "))
            }
            values.append(value)
        }
        return values
    }
}
