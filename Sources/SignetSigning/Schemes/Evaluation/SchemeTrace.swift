import SignetBase

/// The parts of a scheme's signed text by their names in the document, for comparing two sides. It
/// also has the parts that a hash hides, except the body.
struct SchemeTrace {
    private(set) var parts: [MessagePart] = []
    /// The error that ended the list of parts, or `nil` if it is complete.
    private(set) var failure: SigningError?

    private var evaluator: SchemeEvaluator
    private var isInHash = false

    /// Evaluates the signed text, up to the first part that the message lacks.
    init(of evaluator: SchemeEvaluator) {
        self.evaluator = evaluator
        self.evaluator.message.removeParameters(of: evaluator.scheme.placements)
        do throws(SigningError) {
            try walk(evaluator.compiled.text)
        } catch {
            failure = error
        }
    }

    private mutating func add(_ name: String, value: [UInt8]) {
        parts.append(MessagePart(identifier: name, value: value))
    }

    private func isShown(_ name: String) -> Bool {
        parts.contains { sameBytes($0.identifier, name) }
    }

    /// Adds the parts of a step, then the step itself if the document has no name for it.
    private mutating func walk(_ step: CompiledScheme.Step) throws(SigningError) {
        try addParts(of: step)
        switch step {
        case .hash(let function, let inner, _):
            var name = "..."
            if case .template(let template) = inner, template.sources.count == 1 {
                name = evaluator.compiled.name(of: template.sources[0]) ?? name
            }
            add("\(function.rawValue)(\(name))", value: try evaluator.evaluate(step))
        case .path: add("path", value: try evaluator.evaluate(step))
        case .parameters: add("parameters", value: try evaluator.evaluate(step))
        case .choice: if let chosen = evaluator.chosen(step) { try walk(chosen) }
        case .template, .join: break
        }
    }

    /// Adds the parts of a step.
    private mutating func addParts(of step: CompiledScheme.Step) throws(SigningError) {
        switch step {
        case .template(let template): for source in template.sources { try show(source) }
        case .join(let steps, _): for step in steps { try walk(step) }
        case .hash(_, let inner, _):
            let outer = isInHash
            isInHash = true
            try walk(inner)
            isInHash = outer
        case .parameters(let rule):
            for (_, template) in rule.added { try addParts(of: .template(template)) }
        case .path, .choice: break
        }
    }

    private mutating func show(_ source: SchemeTemplate.Source) throws(SigningError) {
        switch source {
        case .literal, .secret, .signature: return
        case .headerLines:
            for field in try evaluator.signedFields() {
                let name = "{header.\(String(decoding: field.name, as: UTF8.self))}"
                if !isShown(name) { add(name, value: field.value) }
            }
            return
        // The hash, which is a part of its own, shows whether the body is the same.
        case .body where isInHash: return
        default: break
        }
        guard let name = evaluator.compiled.name(of: source), !isShown(name) else { return }
        if case .value(let index) = source {
            var step = evaluator.compiled.values[index]
            while let chosen = evaluator.chosen(step) { step = chosen }
            try addParts(of: step)
        }
        add(name, value: try evaluator.bytes(of: source))
    }
}

extension CompiledScheme {
    /// Returns a source's placeholder, or `nil` for a literal.
    func name(of source: SchemeTemplate.Source) -> String? {
        switch source {
        case .time(let format): "{\(format.rawValue)}"
        case .headerLines: "{headers.lines}"
        case .headerNames: "{headers.names}"
        case .header(let name): "{header.\(String(decoding: name, as: UTF8.self))}"
        case .setting(let index): "{set.\(settings[index].name)}"
        case .value(let index): "{\(valueNames[index])}"
        default: SchemeTemplate.Source.named.first { $0.value == source }.map { "{\($0.key)}" }
        }
    }
}
