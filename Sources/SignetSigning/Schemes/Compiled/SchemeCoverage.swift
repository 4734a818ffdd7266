internal import SignetCrypto

/// What the text that a scheme signs takes from a message.
struct SchemeCoverage: Sendable {
    /// A part of a message.
    enum Part: Sendable, Hashable {
        case method, path, query, authority, body
        /// A body that lies elsewhere is proved by its digest.
        case bodyDigest(BodyDigest)
        /// Parameters are signed as the text that is made of them, not as the bytes they came in.
        case parameters(name: String, text: [UInt8])
        case field([UInt8])

        /// The identifier, as RFC 9421 has it where it has one.
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

        /// The value as it stands in a message.
        ///
        /// - Parameter fields: The index of that message's fields.
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
                return Base64.encodeBytes(digest.span, .standard)
            case .parameters(_, let text): return text
            case .field(let name): return fields.value(of: name) ?? []
            }
        }
    }

    /// What is covered, in the order of the text.
    private enum Element: Hashable {
        case part(Part)
        /// The text of a rule, by its number.
        case parameters(Int)
        /// The fields that the message or its signature names.
        case fields
    }

    private var elements: [Element] = []
    /// Rules of parameters, by the names of their texts.
    private var rules: [(name: String, rule: CompiledScheme.ParameterRule)] = []
    private var inlineRules = 0

    /// Follows the steps of a scheme that is bound to its settings.
    init(_ plan: CompiledScheme, text: CompiledScheme.Step, values: [CompiledScheme.Step]) {
        var isUsed = [Bool](repeating: false, count: values.count)
        visit(text, nil, plan, values, &isUsed)
    }

    private mutating func add(_ element: Element) {
        if !elements.contains(element) { elements.append(element) }
    }

    /// - Parameter value: The name of the value that the step belongs to.
    private mutating func visit(
        _ step: CompiledScheme.Step, _ value: String?, _ plan: CompiledScheme, _ values: [CompiledScheme.Step],
        _ isUsed: inout [Bool]
    ) {
        switch step {
        case .template(let template): visit(template, value, plan, values, &isUsed)
        case .join(let steps, _):
            for step in steps { visit(step, value, plan, values, &isUsed) }
        case .hash(_, let inner, _): visit(inner, value, plan, values, &isUsed)
        case .path: add(.part(.path))
        case .parameters(let rule):
            inlineRules += value == nil ? 1 : 0
            let name = value ?? "parameters\(inlineRules > 1 ? "#\(inlineRules)" : "")"
            if plan.keepsQuery(rule) {
                add(.part(.query))
            } else if !rules.contains(where: { $0.name == "{\(name)}" }) {
                add(.parameters(rules.count))
                rules.append(("{\(name)}", rule))
            }
            for (_, template) in rule.added { visit(template, value, plan, values, &isUsed) }
        case .choice(let choices):
            for (_, step) in choices { visit(step, value, plan, values, &isUsed) }
        }
    }

    private mutating func visit(
        _ template: SchemeTemplate, _ value: String?, _ plan: CompiledScheme,
        _ values: [CompiledScheme.Step], _ isUsed: inout [Bool]
    ) {
        for source in template.sources {
            switch source {
            case .value(let index) where !isUsed[index]:
                isUsed[index] = true
                visit(values[index], plan.valueNames[index], plan, values, &isUsed)
            case .method: add(.part(.method))
            case .target:
                add(.part(.path))
                add(.part(.query))
            case .path: add(.part(.path))
            case .query: add(.part(.query))
            case .host: add(.part(.authority))
            case .body: add(.part(.body))
            case .header(let name): add(.part(.field(name)))
            case .headerLines: add(.fields)
            default: break
            }
        }
    }

    /// The parts of one message, each once.
    ///
    /// - Throws: What the message lacks.
    func parts(of run: inout SchemeEvaluator) throws(SigningError) -> [Part] {
        var all: [Part] = []
        all.reserveCapacity(elements.count + 8)
        func add(_ part: Part) {
            if !all.contains(part) { all.append(part) }
        }
        for element in elements {
            switch element {
            case .part(.body): if let body = Self.body(of: run.message) { add(body) }
            case .part(let part): add(part)
            case .parameters(let index):
                let (name, rule) = rules[index]
                if run.message.content == .expected, rule.origins != [.query] { continue }
                add(.parameters(name: name, text: try run.run(.parameters(rule))))
            case .fields:
                // The names are distinct, so each is compared with the other elements only.
                let others = all
                for name in try run.signedNames() {
                    let part = name == SignableMessage.host ? Part.authority : .field(name)
                    if !others.contains(part) { all.append(part) }
                }
            }
        }
        return all
    }

    /// What proves a body; nil where it is still to come.
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
    /// Whether the text of a rule says what the query says: every parameter, each told from the next.
    fileprivate func keepsQuery(_ rule: ParameterRule) -> Bool {
        rule.origins == [.query] && rule.encodes && !rule.skipsEmpty
            && rule.except.allSatisfy { name in
                placements.contains { $0.place == .query(name) }
            }
    }
}
