import SignetBase
import SignetCrypto

/// Evaluates the steps of a scheme for one message.
struct SchemeEvaluator {
    let scheme: ConfiguredScheme
    var message: SignableMessage
    var keyID: [UInt8] = []
    var nonce: [UInt8] = []
    var time: Int64 = 0
    /// The digits of the fraction of the time's second; nil for a signer, which writes `000`.
    var fraction: [UInt8]?
    /// Seconds from the time to the expiration; `nil` for an hour.
    var lifetime: Int64?
    /// The encoded signature, after signing.
    var signature: [UInt8] = []
    /// The fields that a received signature lists, or `nil` if the scheme selects them.
    var receivedNames: [[UInt8]]?

    private var values: [[UInt8]?]
    private var fields: SignedFields?

    init(_ scheme: ConfiguredScheme, message: SignableMessage) {
        self.scheme = scheme
        self.message = message
        self.values = scheme.values.map { _ in nil }
    }

    var compiled: CompiledScheme { scheme.compiled }
    private var settings: [[UInt8]?] { scheme.settings }

    /// Returns the signed text.
    mutating func text() throws(SigningError) -> [UInt8] { try evaluate(scheme.text) }

    /// Returns an evaluator of the same message for another key ID, without cached values.
    func with(keyID: [UInt8]) -> SchemeEvaluator {
        var evaluator = self
        evaluator.keyID = keyID
        evaluator.values = values.map { _ in nil }
        return evaluator
    }

    // MARK: Templates

    mutating func expand(_ template: SchemeTemplate) throws(SigningError) -> [UInt8] {
        if template.sources.count == 1 { return try bytes(of: template.sources[0]) }
        var result: [UInt8] = []
        result.reserveCapacity(256)
        try append(template, to: &result)
        return result
    }

    mutating func append(
        _ template: SchemeTemplate, to target: inout [UInt8]
    ) throws(SigningError) {
        // Indices, because a loop over the sources would copy each.
        for index in template.sources.indices { try append(template.sources[index], to: &target) }
    }

    mutating func bytes(of source: SchemeTemplate.Source) throws(SigningError) -> [UInt8] {
        switch source {
        case .body: return try message.content.held()
        case .value(let index): return try value(index)
        default:
            var result: [UInt8] = []
            result.reserveCapacity(64)
            try append(source, to: &result)
            return result
        }
    }

    mutating func append(
        _ source: SchemeTemplate.Source, to target: inout [UInt8]
    ) throws(SigningError) {
        switch source {
        case .literal(let bytes): target.append(contentsOf: bytes)
        case .method: target.append(try request().method)
        case .lowercaseMethod:
            let method = Array(try request().method.utf8)
            let lower = method.map(\.lowercased)
            // Methods are case-sensitive, so `Get` must not have the same text as `GET`.
            guard zip(method, lower).allSatisfy({ $0 != $1 || !$0.isLetter }) else {
                throw SigningError(
                    .unsupportedComponent,
                    "the method has a lowercase letter, expected none: \(compiled.name) signs the "
                        + "method in lower case")
            }
            target.append(contentsOf: lower)
        case .target: target.append(contentsOf: try request().target)
        case .path: try request().appendPath(to: &target)
        case .query:
            let request = try request()
            if let query = request.query { target.append(contentsOf: request.target[query]) }
        case .host:
            guard let host = try request().authority else {
                throw SigningError.missing(field: SignableMessage.host)
            }
            target.append(contentsOf: host)
        case .body: target.append(contentsOf: try message.content.held())
        case .keyID: target.append(contentsOf: keyID)
        case .nonce: target.append(contentsOf: nonce)
        case .lifetime: target.append(decimal: lifetime ?? 3600)
        case .signature: target.append(contentsOf: signature)
        case .secret: break
        case .time(let format): format.append(time, fraction: fraction, to: &target)
        case .setting(let index): target.append(contentsOf: settings[index] ?? [])
        case .value(let index): target.append(contentsOf: try value(index))
        case .header(let name):
            guard message.fields.appendValue(of: name, to: &target) else {
                throw SigningError.missing(field: name)
            }
        case .headerNames:
            if let fields = try collectFields() { target.append(contentsOf: fields.names) }
        case .headerLines:
            if let fields = try collectFields() { target.append(contentsOf: fields.lines) }
        }
    }

    /// Returns the request, or throws for a response.
    func request() throws(SigningError) -> SignableMessage.Request {
        guard let request = message.request else {
            throw SigningError(
                .unsupportedComponent, "\(compiled.name) signs requests, found a response")
        }
        return request
    }

    // MARK: Values and steps

    mutating func value(_ index: Int) throws(SigningError) -> [UInt8] {
        if let value = values[index] { return value }
        let value = try evaluate(scheme.values[index])
        values[index] = value
        return value
    }

    mutating func evaluate(_ step: CompiledScheme.Step) throws(SigningError) -> [UInt8] {
        if case .template(let template) = step { return try expand(template) }
        if case .parameters(let rule) = step { return try parameters(rule) }
        var result: [UInt8] = []
        result.reserveCapacity(512)
        try append(step, to: &result)
        return result
    }

    private mutating func append(
        _ step: CompiledScheme.Step, to target: inout [UInt8]
    ) throws(SigningError) {
        switch step {
        case .template(let template): try append(template, to: &target)
        case .join(let steps, let separator):
            for index in steps.indices {
                if index > 0 { target.append(contentsOf: separator) }
                try append(steps[index], to: &target)
            }
        case .hash(let function, let step, let encoding):
            encoding.append(try hash(of: step, by: function), to: &target)
        case .path(let normalize, let encodes):
            let request = try request()
            let isNormalized = normalize?.holds(settings) == true
            guard isNormalized || encodes else { return request.appendPath(to: &target) }
            var path: [UInt8] = []
            request.appendPath(to: &path)
            if isNormalized { path = Self.normalized(path: path) }
            if encodes {
                PercentCoding.append(path[...], keeping: Self.pathCharacters, to: &target)
            } else {
                target.append(contentsOf: path)
            }
        case .parameters(let rule): target.append(contentsOf: try parameters(rule))
        case .choice: if let chosen = chosen(step) { try append(chosen, to: &target) }
        }
    }

    private mutating func hash(
        of step: CompiledScheme.Step, by function: HashFunction
    ) throws(SigningError) -> [UInt8] {
        if step.isBody, let digest = function.bodyDigest {
            // Use zeros for a body that has not been received yet; the result is discarded.
            return try message.content.digest(digest)
                ?? [UInt8](repeating: 0, count: digest.algorithm.byteCount)
        }
        let bytes = try evaluate(step)
        return try convertingCryptoFailure { () throws(CryptoFailure) in
            try function.hash(bytes.span)
        }
    }

    private static let pathCharacters = ASCIISet(lettersDigitsAnd: "-._~/")

    /// Returns a path without `.`, `..` and empty segments, as AWS's clients sign it. It ends with
    /// a slash only if the given path does: `/a/.` becomes `/a`, although RFC 3986 would give
    /// `/a/`.
    private static func normalized(path: [UInt8]) -> [UInt8] {
        // Most paths have no such segment.
        let hasOther = path.indices.dropFirst().contains { index in
            path[index - 1] == ASCII.slash
                && (path[index] == ASCII.slash || path[index] == ASCII.dot)
        }
        guard hasOther || path.first != ASCII.slash else { return path }
        var segments: [ArraySlice<UInt8>] = []
        for segment in path.split(separator: ASCII.slash) {
            let isDots = segment.allSatisfy { $0 == ASCII.dot } && segment.count <= 2
            if !isDots {
                segments.append(segment)
            } else if segment.count == 2 {
                _ = segments.popLast()
            }
        }
        var result: [UInt8] = []
        for segment in segments {
            result.append(ASCII.slash)
            result.append(contentsOf: segment)
        }
        if path.last == ASCII.slash || result.isEmpty { result.append(ASCII.slash) }
        return result
    }

    /// Returns the choice that applies, or `nil` if the step isn't a choice. The last choice has no
    /// condition, so one always applies.
    func chosen(_ step: CompiledScheme.Step) -> CompiledScheme.Step? {
        guard case .choice(let choices) = step else { return nil }
        return choices.first { $0.0.holds(settings) }?.1
    }

    // MARK: Fields

    /// Returns the signed fields with their values, sorted by name.
    mutating func signedFields() throws(SigningError) -> [SignedFields.Field] {
        try collectFields()?.fields ?? []
    }

    /// Returns the sorted names of the signed fields.
    mutating func signedNames() throws(SigningError) -> [[UInt8]] {
        if let receivedNames { return receivedNames }
        return try signedFields().map(\.name)
    }

    /// Returns the signed fields and caches them, or returns `nil` if the scheme signs no fields.
    private mutating func collectFields() throws(SigningError) -> SignedFields? {
        if let fields { return fields }
        guard let rule = compiled.headers else { return nil }
        let collected = try SignedFields(
            of: message, by: rule, received: receivedNames, scheme: compiled.name)
        fields = collected
        return collected
    }

    // MARK: Parameters

    private mutating func parameters(
        _ rule: CompiledScheme.ParameterRule
    ) throws(SigningError) -> [UInt8] {
        var parameters = SchemeParameters()
        for origin in rule.origins {
            switch origin {
            case .query:
                let request = try request()
                guard let query = request.query else { continue }
                parameters.add(request.target[query], plusIsSpace: false, by: rule)
            case .form where message.hasForm:
                parameters.add(try message.content.held()[...], plusIsSpace: true, by: rule)
            case .form: break
            case .xml:
                for (name, value) in try message.xmlChildren()
                where !compiled.placedElements.contains(name) {
                    parameters.add(name: name, value: value, by: rule)
                }
            }
        }
        for (name, template) in rule.added {
            parameters.add(name: name, value: try expand(template), by: rule)
        }
        return parameters.text(by: rule)
    }
}
