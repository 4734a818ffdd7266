internal import SignetCrypto
internal import SignetJSON

/// A scheme document, read and checked once; signing and verifying only follow it.
final class SchemePlan: Sendable {
    /// What a program may or must say besides the message.
    struct Setting: Sendable {
        let name: String
        let isRequired: Bool
        let allowed: [[UInt8]]?
        let fallback: [UInt8]?
    }

    /// Whether a part of the document applies: every named setting has, or lacks, what is wanted.
    struct Condition: Sendable {
        enum Wanted: Sendable {
            case value([UInt8])
            case presence(Bool)
        }
        let tests: [(setting: Int, wanted: Wanted)]

        static let always = Condition(tests: [])

        func holds(_ settings: [[UInt8]?]) -> Bool {
            tests.allSatisfy { test in
                switch test.wanted {
                case .value(let value): settings[test.setting] == value
                case .presence(let isPresent): (settings[test.setting] != nil) == isPresent
                }
            }
        }
    }

    /// How bytes become text.
    enum Encoding: String, Sendable, CaseIterable {
        case hex
        case upperHex = "hex-upper"
        case base64
        case base64URL = "base64url"
    }

    /// A piece of the text that is signed.
    indirect enum Step: Sendable {
        case template(SchemeTemplate)
        case join([Step], separator: [UInt8])
        case hash(HashFunction, Step, Encoding)
        case path(normalize: Condition?, encodes: Bool)
        case parameters(ParameterRule)
        /// The first whose condition holds.
        case choice([(Condition, Step)])
    }

    /// Where a text stands in a message.
    enum Place: Sendable, Hashable {
        case header(String)
        case query([UInt8])
        /// A child of the root of a flat XML body.
        case xml([UInt8])
    }

    /// A text and its place; written when signing, read back when verifying.
    ///
    /// Threads share them, and count one reference for each, not one for each of its parts.
    final class Carrier: Sendable {
        let condition: Condition
        let place: Place
        /// One template for the whole, or several for the entries of a list.
        let templates: [SchemeTemplate]
        /// Between the entries of a list; nil where there is one template.
        let separator: [UInt8]?
        /// The templates as the document writes them, for people.
        let shape: String

        init(
            condition: Condition, place: Place, templates: [SchemeTemplate],
            separator: [UInt8]?, shape: String
        ) {
            self.condition = condition
            self.place = place
            self.templates = templates
            self.separator = separator
            self.shape = shape
        }
    }

    /// Which fields are signed, and how their lines look.
    struct HeaderRule: Sendable {
        let names: [[UInt8]]
        let prefixes: [[UInt8]]
        let selectsAll: Bool
        var except: [[UInt8]]
        let required: [[UInt8]]
        let collapsesSpaces: Bool
        let sortsValues: Bool

        func selects(_ name: [UInt8]) -> Bool {
            if except.contains(name) { return false }
            return selectsAll || names.contains(name) || prefixes.contains(where: name.starts)
        }
    }

    /// Which parameters are signed, and how they are written.
    struct ParameterRule: Sendable {
        enum Origin: String, Sendable, CaseIterable { case query, form, xml }
        enum Order: String, Sendable, CaseIterable {
            /// As they came.
            case none
            /// By name alone; those of one name as they came.
            case key
            /// By name, then by value.
            case keyValue = "key-value"
            /// By the written pairs, which is not the same: `a1=x` comes before `a=1`.
            case pair
        }
        let origins: [Origin]
        let decodes: Bool
        let encodes: Bool
        let skipsEmpty: Bool
        let except: [[UInt8]]
        let added: [(name: [UInt8], value: SchemeTemplate)]
        let order: Order
        let assign: [UInt8]
        let separator: [UInt8]
    }

    /// How the text is signed.
    enum Algorithm: Sendable {
        /// The secret with a prefix, then an HMAC over each link of the chain, then one over the text.
        case hmac(
            DigestAlgorithm, decoding: SecretDecoding, prefix: [UInt8], chain: [SchemeTemplate])
        /// A hash over the text, with the secret before or behind it.
        case hash(HashFunction, before: SchemeTemplate?, behind: SchemeTemplate?)
        /// A signature by the key's own algorithm, one of these.
        case asymmetric([SignatureAlgorithm])
    }

    /// What the bytes of `k` are.
    enum SecretDecoding: String, Sendable, CaseIterable {
        case none
        /// Base64 behind `whsec_`, where that stands (Standard Webhooks).
        case whsec
    }

    /// How a nonce is made, and what it must not hold.
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
    let injections: [Carrier]
    let text: Step
    let algorithm: Algorithm
    let encoding: Encoding
    let placements: [Carrier]
    /// The elements that the signature stands in, which are no parameters.
    let placedElements: Set<[UInt8]>
    let nonce: NonceRule
    let signed: SignedSources

    init(_ parts: SchemeParts) {
        name = parts.name
        document = parts.document
        settings = parts.settings
        valueNames = parts.values.map(\.name)
        values = parts.values.map(\.step)
        var headers = parts.headers
        var elements: Set<[UInt8]> = []
        // What holds the signature is no part of what it signs.
        for carrier in parts.placements {
            switch carrier.place {
            case .header(let name): headers?.except.append(name.utf8.map(\.lowercased))
            case .xml(let name): elements.insert(name)
            case .query: break
            }
        }
        self.headers = headers
        placedElements = elements
        injections = parts.injections
        text = parts.text
        algorithm = parts.algorithm
        encoding = parts.encoding
        placements = parts.placements
        nonce = parts.nonce
        signed = SignedSources(
            text: parts.text, values: parts.values.map(\.step), headers: parts.headers,
            injections: parts.injections)
    }
}

extension SchemePlan {
    /// A hash that is broken for signatures: behind `.Insecure` only.
    var brokenHash: HashFunction? {
        if case .hash(let function, _, _) = algorithm, function.isBroken { return function }
        return nil
    }

    /// The carriers of the settings, in the order in which a signer writes them.
    func carriers(
        _ carriers: [Carrier], _ settings: [[UInt8]?]
    ) -> [Carrier] {
        carriers.filter { $0.condition.holds(settings) }
    }

    /// The values of the settings, by their numbers.
    ///
    /// - Throws: `unsupported-option` for a setting that the scheme does not have, `missing-option` for
    ///   one that it must have, `invalid-value` for one that cannot be.
    func settings(_ given: [String: String]) throws(SigningError) -> [[UInt8]?] {
        for name in given.keys.sorted()
        where !settings.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
            let known = settings.map(\.name).joined(separator: ", ")
            throw SigningError(
                .unsupportedOption,
                "\(self.name) has no setting \(printable(name)): "
                    + (known.isEmpty ? "it has none" : "wanted \(known)"))
        }
        var values: [[UInt8]?] = []
        for setting in settings {
            guard let text = given[setting.name] else {
                guard !setting.isRequired else {
                    throw SigningError(
                        .missingOption, "\(name) wants the setting \(setting.name)")
                }
                values.append(setting.fallback)
                continue
            }
            let value = Array(text.utf8)
            guard !value.isEmpty, value.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw SigningError(
                    .invalidValue,
                    "\(name): the setting \(setting.name) must be visible ASCII without spaces")
            }
            if let allowed = setting.allowed, !allowed.contains(value) {
                let wanted = allowed.map { String(decoding: $0, as: UTF8.self) }
                throw SigningError(
                    .invalidValue,
                    "\(name): the setting \(setting.name) must be one of "
                        + wanted.joined(separator: ", "))
            }
            values.append(value)
        }
        return values
    }
}
