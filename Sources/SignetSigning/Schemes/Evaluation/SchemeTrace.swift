/// The parts of the text that a scheme signs, each by the name that the document has for it, for a
/// person who compares two sides: also what a hash hides, but for the body.
struct SchemeTrace {
    private(set) var parts: [MessagePart] = []
    /// Why there are no more of them.
    private(set) var failure: SigningError?

    private var run: SchemeEvaluator
    private var isInHash = false

    /// Follows the text once, as far as the message yields it.
    init(of run: SchemeEvaluator) {
        self.run = run
        // What was placed after the text was made is no part of it.
        for carrier in run.plan.carriers(run.plan.placements, run.settings) {
            if case .query(let name) = carrier.place { self.run.message.removeQuery(name) }
        }
        do throws(SigningError) {
            try walk(run.plan.text)
        } catch {
            failure = error
        }
    }

    private mutating func add(_ name: String, _ value: [UInt8]) {
        parts.append(MessagePart(identifier: name, value: value))
    }

    private func isShown(_ name: String) -> Bool {
        parts.contains { $0.identifier.utf8.elementsEqual(name.utf8) }
    }

    /// The parts of a step, and the step itself where the document has no name for it.
    private mutating func walk(_ step: CompiledScheme.Step) throws(SigningError) {
        try inside(step)
        switch step {
        case .hash(let function, let inner, _):
            var name = "..."
            if case .template(let template) = inner, template.sources.count == 1 {
                name = run.plan.name(of: template.sources[0]) ?? name
            }
            add("\(function.rawValue)(\(name))", try run.run(step))
        case .path: add("path", try run.run(step))
        case .parameters: add("parameters", try run.run(step))
        case .choice: if let chosen = run.chosen(step) { try walk(chosen) }
        case .template, .join: break
        }
    }

    /// What a step is made of.
    private mutating func inside(_ step: CompiledScheme.Step) throws(SigningError) {
        switch step {
        case .template(let template): for source in template.sources { try show(source) }
        case .join(let steps, _): for step in steps { try walk(step) }
        case .hash(_, let inner, _):
            let outer = isInHash
            isInHash = true
            try walk(inner)
            isInHash = outer
        case .parameters(let rule):
            for (_, template) in rule.added { try inside(.template(template)) }
        case .path, .choice: break
        }
    }

    private mutating func show(_ source: SchemeTemplate.Source) throws(SigningError) {
        switch source {
        case .literal, .secret, .signature: return
        case .headerLines:
            for (name, value) in try run.signedFields() {
                let name = "{header.\(String(decoding: name, as: UTF8.self))}"
                if !isShown(name) { add(name, value) }
            }
            return
        // Its hash says whether it is the same.
        case .body where isInHash: return
        default: break
        }
        guard let name = run.plan.name(of: source), !isShown(name) else { return }
        if case .value(let index) = source {
            var step = run.plan.values[index]
            while let chosen = run.chosen(step) { step = chosen }
            try inside(step)
        }
        add(name, try run.bytes(of: source))
    }
}

extension CompiledScheme {
    /// How a template writes a source; nil for a text.
    func name(of source: SchemeTemplate.Source) -> String? {
        switch source {
        case .literal: nil
        case .method: "{method}"
        case .target: "{target}"
        case .path: "{path}"
        case .query: "{query}"
        case .host: "{host}"
        case .body: "{body}"
        case .keyID: "{keyid}"
        case .nonce: "{nonce}"
        case .lifetime: "{lifetime}"
        case .signature: "{signature}"
        case .secret: "{secret}"
        case .time(let format): "{\(format.rawValue)}"
        case .headerLines: "{headers.lines}"
        case .headerNames: "{headers.names}"
        case .header(let name): "{header.\(String(decoding: name, as: UTF8.self))}"
        case .setting(let index): "{set.\(settings[index].name)}"
        case .value(let index): "{\(valueNames[index])}"
        }
    }
}
