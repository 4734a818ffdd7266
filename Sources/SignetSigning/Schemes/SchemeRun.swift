internal import SignetCrypto

/// One message under one scheme: gives each part of the plan its value.
struct SchemeRun {
    let plan: SchemePlan
    let settings: [[UInt8]?]
    var message: SignableMessage
    var keyID: [UInt8] = []
    var nonce: [UInt8] = []
    var time: Int64 = 0
    /// Of the time's second, as a received message says it.
    var millisecond: Int64 = 0
    /// Seconds from the time to the end.
    var lifetime: Int64?
    /// The encoded signature, when it is placed.
    var signature: [UInt8] = []
    /// The fields that a received signature names; nil where the plan selects them.
    var receivedNames: [[UInt8]]?

    private var values: [[UInt8]?]
    private var fields: [(name: [UInt8], value: [UInt8])]?

    init(plan: SchemePlan, settings: [[UInt8]?], message: SignableMessage) {
        self.plan = plan
        self.settings = settings
        self.message = message
        self.values = [[UInt8]?](repeating: nil, count: plan.values.count)
    }

    /// The same message with another key's id, and nothing remembered that was made of the last one.
    func trying(keyID: [UInt8]) -> SchemeRun {
        var run = self
        run.keyID = keyID
        run.values = [[UInt8]?](repeating: nil, count: values.count)
        return run
    }

    // MARK: Templates

    mutating func expand(_ template: SchemeTemplate) throws(SigningError) -> [UInt8] {
        if template.sources.count == 1 { return try bytes(of: template.sources[0]) }
        var result: [UInt8] = []
        try append(template, to: &result)
        return result
    }

    mutating func append(
        _ template: SchemeTemplate, to target: inout [UInt8]
    ) throws(SigningError) {
        for source in template.sources { try append(source, to: &target) }
    }

    mutating func bytes(of source: SchemeTemplate.Source) throws(SigningError) -> [UInt8] {
        switch source {
        case .body: return try message.content.held()
        case .value(let index): return try value(index)
        case .signature: return signature
        default: break
        }
        var result: [UInt8] = []
        try append(source, to: &result)
        return result
    }

    private mutating func append(
        _ source: SchemeTemplate.Source, to target: inout [UInt8]
    ) throws(SigningError) {
        switch source {
        case .literal(let bytes): target.append(contentsOf: bytes)
        case .method: target.append(try request().method)
        case .target: target.append(contentsOf: try request().target)
        case .path: try request().appendPath(to: &target)
        case .query:
            let request = try request()
            if let query = request.query { target.append(contentsOf: request.target[query]) }
        case .host: target.append(contentsOf: try host())
        case .body: target.append(contentsOf: try message.content.held())
        case .keyID: target.append(contentsOf: keyID)
        case .nonce: target.append(contentsOf: nonce)
        case .lifetime: target.append(decimal: lifetime ?? 3600)
        case .signature: target.append(contentsOf: signature)
        case .secret: break
        case .time(let format): format.append(time, millisecond: millisecond, to: &target)
        case .setting(let index): target.append(contentsOf: settings[index] ?? [])
        case .value(let index): target.append(contentsOf: try value(index))
        case .header(let name):
            guard message.fields.appendValue(of: name, to: &target) else {
                throw Self.missing(name)
            }
        case .headerNames:
            for (index, field) in try signedFields().enumerated() {
                if index > 0 { target.append(ASCII.semicolon) }
                target.append(contentsOf: field.name)
            }
        case .headerLines:
            for field in try signedFields() {
                target.append(contentsOf: field.name)
                target.append(ASCII.colon)
                target.append(contentsOf: field.value)
                target.append(ASCII.lineFeed)
            }
        }
    }

    private func request() throws(SigningError) -> SignableMessage.Request {
        guard let request = message.request else {
            throw SigningError(
                .unsupportedComponent, "\(plan.name) signs requests, and this is a response")
        }
        return request
    }

    private func host() throws(SigningError) -> [UInt8] {
        guard let host = try request().authority else { throw Self.missing(SignableMessage.host) }
        return host
    }

    static func missing(_ name: [UInt8]) -> SigningError {
        SigningError(
            .missingComponent, "the message has no \(String(decoding: name, as: UTF8.self))")
    }

    // MARK: Values and steps

    mutating func value(_ index: Int) throws(SigningError) -> [UInt8] {
        if let value = values[index] { return value }
        let value = try run(plan.values[index])
        values[index] = value
        return value
    }

    mutating func run(_ step: SchemePlan.Step) throws(SigningError) -> [UInt8] {
        switch step {
        case .template(let template): return try expand(template)
        case .join(let steps, let separator):
            var result: [UInt8] = []
            for (index, step) in steps.enumerated() {
                if index > 0 { result.append(contentsOf: separator) }
                if case .template(let template) = step {
                    try append(template, to: &result)
                } else {
                    result.append(contentsOf: try run(step))
                }
            }
            return result
        case .hash(let function, let step, let encoding):
            if step.isBody, let digest = function.bodyDigest {
                // A body that is still to come stands here as zeros; what is made of it is not used.
                let sum = try message.content.digest(digest)
                return encoding.encode(
                    sum ?? [UInt8](repeating: 0, count: digest.algorithm.byteCount))
            }
            let bytes = try run(step)
            do throws(CryptoFailure) {
                return encoding.encode(try function.hash(bytes.span))
            } catch {
                throw SigningError(error)
            }
        case .path(let normalize, let encodes):
            let request = try request()
            var path: [UInt8] = []
            request.appendPath(to: &path)
            if normalize?.holds(settings) == true {
                path = PercentCoding.normalized(path: path[...])
            }
            guard encodes else { return path }
            var encoded: [UInt8] = []
            encoded.reserveCapacity(path.count)
            PercentCoding.append(path, .unreservedAndSlash, to: &encoded)
            return encoded
        case .parameters(let rule): return try parameters(rule)
        case .choice:
            guard let chosen = chosen(step) else { return [] }
            return try run(chosen)
        }
    }

    /// The choice that holds; nil for another step. The last has no condition, so one always does.
    func chosen(_ step: SchemePlan.Step) -> SchemePlan.Step? {
        guard case .choice(let choices) = step else { return nil }
        return choices.first { $0.0.holds(settings) }?.1
    }

    // MARK: Fields

    /// The names of the fields that are signed, sorted.
    var signedNames: [[UInt8]] {
        get throws(SigningError) {
            var copy = self
            return try copy.signedFields().map(\.name)
        }
    }

    mutating func signedFields() throws(SigningError) -> [(name: [UInt8], value: [UInt8])] {
        if let fields { return fields }
        guard let rule = plan.headers else { return [] }
        var result: [(name: [UInt8], value: [UInt8])] = []
        let names = receivedNames ?? selectedNames(rule)
        guard names.count <= ReceivedScheme.maximumNames else {
            throw SigningError(
                .malformedMessage,
                "\(plan.name) would sign \(names.count) fields: wanted at most "
                    + "\(ReceivedScheme.maximumNames)")
        }
        for name in names {
            result.append((name, try fieldValue(name, rule)))
        }
        for name in rule.required where !result.contains(where: { $0.name == name }) {
            throw Self.missing(name)
        }
        fields = result
        return result
    }

    private func selectedNames(_ rule: SchemePlan.HeaderRule) -> [[UInt8]] {
        var names: Set<[UInt8]> = []
        if message.request?.authority != nil, rule.selects(SignableMessage.host) {
            names.insert(SignableMessage.host)
        }
        for field in message.fields {
            let name = field.name.utf8.map(\.lowercased)
            if rule.selects(name) { names.insert(name) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private func fieldValue(
        _ name: [UInt8], _ rule: SchemePlan.HeaderRule
    ) throws(SigningError) -> [UInt8] {
        if name == SignableMessage.host { return try host() }
        var values = message.values(of: name)
        guard !values.isEmpty else { throw Self.missing(name) }
        if rule.collapsesSpaces {
            for index in values.indices { values[index] = Self.collapsed(values[index]) }
        }
        if values.count == 1 { return values[0] }
        if rule.sortsValues { values.sort { $0.lexicographicallyPrecedes($1) } }
        return Array(values.joined(separator: [ASCII.comma]))
    }

    /// Each run of spaces and tabs as one space.
    private static func collapsed(_ value: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(value.count)
        for byte in value {
            let isBlank = byte == ASCII.space || byte == ASCII.tab
            if isBlank, result.last == ASCII.space { continue }
            result.append(isBlank ? ASCII.space : byte)
        }
        return result
    }

    // MARK: Parameters

    private mutating func parameters(
        _ rule: SchemePlan.ParameterRule
    ) throws(SigningError) -> [UInt8] {
        var pairs: [(name: [UInt8], value: [UInt8])] = []
        for origin in rule.origins {
            switch origin {
            case .query:
                _ = try request()
                pairs += message.queryParameters(decoded: rule.decodes)
            case .form: pairs += try message.formParameters(decoded: rule.decodes)
            case .xml: pairs += try message.xmlChildren()
            }
        }
        for (name, template) in rule.added { pairs.append((name, try expand(template))) }
        pairs.removeAll { pair in
            rule.except.contains(pair.name) || (rule.skipsEmpty && pair.value.isEmpty)
        }
        if rule.encodes {
            for index in pairs.indices {
                var name: [UInt8] = []
                var value: [UInt8] = []
                PercentCoding.append(pairs[index].name, .unreserved, to: &name)
                PercentCoding.append(pairs[index].value, .unreserved, to: &value)
                pairs[index] = (name, value)
            }
        }
        switch rule.order {
        case .none, .pair: break
        case .key: pairs.stableSort { $0.name.lexicographicallyPrecedes($1.name) }
        case .keyValue:
            pairs.stableSort { left, right in
                left.name == right.name
                    ? left.value.lexicographicallyPrecedes(right.value)
                    : left.name.lexicographicallyPrecedes(right.name)
            }
        }
        var written = pairs.map { $0.name + rule.assign + $0.value }
        if rule.order == .pair { written.sort { $0.lexicographicallyPrecedes($1) } }
        return Array(written.joined(separator: rule.separator))
    }
}

extension Array {
    /// Sorts and leaves what is equal in its order.
    fileprivate mutating func stableSort(_ precedes: (Element, Element) -> Bool) {
        self = enumerated().sorted { left, right in
            if precedes(left.element, right.element) { return true }
            return !precedes(right.element, left.element) && left.offset < right.offset
        }.map(\.element)
    }
}
