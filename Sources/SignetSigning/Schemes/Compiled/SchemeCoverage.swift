import SignetCrypto

/// The parts of a message that a scheme's signed text contains.
struct SchemeCoverage: Sendable {
    /// A part of a message.
    enum Part: Sendable, Hashable {
        case method, path, query, authority, body
        /// The digest of a body that the message does not hold.
        case bodyDigest(BodyDigest)
        /// Parameters, with the text that is signed for them.
        case parameters(name: String, text: [UInt8])
        case field([UInt8])

        /// The component's identifier in RFC 9421, or a name of our own if RFC 9421 has none.
        var name: String {
            switch self {
            case .method: "@method"
            case .path: "@path"
            case .query: "@query"
            case .authority: "@authority"
            case .body: "body"
            case .bodyDigest: "body-digest"
            case .parameters(let name, _): name
            case .field(let name): String(decoding: name, as: UTF8.self)
            }
        }

        /// Returns the part's value in a message.
        ///
        /// - Parameter fields: The index of the same message's fields.
        func value(in message: SignableMessage, fields: inout FieldIndex) -> [UInt8] {
            switch self {
            case .method: return Array((message.request?.method ?? "").utf8)
            case .path:
                var path: [UInt8] = []
                message.request?.appendPath(to: &path)
                return path
            case .query:
                guard let request = message.request, let query = request.query else { return [] }
                return Array(request.target[query])
            case .authority: return message.request?.authority ?? []
            case .body: return message.body
            case .bodyDigest(let algorithm):
                guard case .digested(let digests) = message.content,
                    let digest = digests[algorithm]
                else { return [] }
                return Base64.encodeBytes(digest.span, as: .standard)
            case .parameters(_, let text): return text
            case .field(let name): return fields.value(of: name) ?? []
            }
        }
    }

    /// A covered part, before the message is known.
    private enum Element: Hashable {
        case part(Part)
        /// The text of a parameter rule, by index.
        case parameters(Int)
        /// The fields that the header rule selects or the signature lists.
        case fields
    }

    /// In the order of the signed text.
    private var elements: [Element] = []
    /// The parameter rules, each with the name of its text.
    private var rules: [(name: String, rule: CompiledScheme.ParameterRule)] = []

    /// Collects the parts from the steps of a configured scheme.
    init(
        of scheme: CompiledScheme, text: CompiledScheme.Step, values: [CompiledScheme.Step],
        injections: [CompiledScheme.Slot]
    ) {
        var inlineRules = 0
        /// - Parameter value: The name of the value that the step belongs to.
        func visit(_ step: CompiledScheme.Step, value: String?) {
            switch step {
            case .template(let template):
                for source in template.sources {
                    if case .value(let index) = source {
                        visit(values[index], value: scheme.valueNames[index])
                    } else {
                        add(source)
                    }
                }
            case .join, .hash, .choice: break
            case .path: add(.path)
            case .parameters(let rule):
                inlineRules += value == nil ? 1 : 0
                let name = value ?? "parameters\(inlineRules > 1 ? "#\(inlineRules)" : "")"
                if scheme.keepsQuery(rule) {
                    add(.query)
                } else if !rules.contains(where: { $0.name == "{\(name)}" }) {
                    elements.append(.parameters(rules.count))
                    rules.append(("{\(name)}", rule))
                }
            }
            for step in step.inner { visit(step, value: value) }
        }
        visit(text, value: nil)
        // A verifier compares the parts in a signed field or parameter with the message.
        for slot in injections where scheme.signed.isSigned(slot.location, headers: scheme.headers)
        {
            for template in slot.templates { visit(.template(template), value: nil) }
        }
    }

    private mutating func add(_ source: SchemeTemplate.Source) {
        let found: [Element] =
            switch source {
            case .method, .lowercaseMethod: [.part(.method)]
            case .target: [.part(.path), .part(.query)]
            case .path: [.part(.path)]
            case .query: [.part(.query)]
            case .host: [.part(.authority)]
            case .body: [.part(.body)]
            case .header(let name): [.part(.field(name))]
            case .headerLines: [.fields]
            default: []
            }
        for element in found where !elements.contains(element) { elements.append(element) }
    }

    /// Returns the covered parts of one message, each once.
    ///
    /// - Throws: `missing-component` and others, if the message lacks a part.
    func parts(of evaluator: inout SchemeEvaluator) throws(SigningError) -> [Part] {
        var all: [Part] = []
        all.reserveCapacity(elements.count + 8)
        func add(_ part: Part) {
            if !all.contains(part) { all.append(part) }
        }
        for element in elements {
            switch element {
            case .part(.body): if let body = Self.body(of: evaluator.message) { add(body) }
            case .part(let part): add(part)
            case .parameters(let index):
                let (name, rule) = rules[index]
                if evaluator.message.content == .expected, rule.origins != [.query] { continue }
                add(.parameters(name: name, text: try evaluator.evaluate(.parameters(rule))))
            case .fields:
                // The names are distinct, so compare each only with the parts before them.
                let others = all.count
                for name in try evaluator.signedNames() {
                    let part = name == SignableMessage.host ? Part.authority : .field(name)
                    if !all[..<others].contains(part) { all.append(part) }
                }
            }
        }
        return all
    }

    /// Returns the part that covers the body, or `nil` if the body has not been received yet.
    private static func body(of message: SignableMessage) -> Part? {
        switch message.content {
        case .bytes: .body
        case .digested(let digests):
            BodyDigest.allCases.first { digests[$0] != nil }.map { .bodyDigest($0) }
        case .expected: nil
        }
    }
}

extension CompiledScheme {
    /// Whether a rule's text determines the query: it contains every parameter, escaped.
    fileprivate func keepsQuery(_ rule: ParameterRule) -> Bool {
        rule.origins == [.query] && rule.encodes && !rule.skipsEmpty
            && rule.except.allSatisfy { name in
                placements.contains { $0.locations.contains(.query(name)) }
            }
    }
}
