extension CompiledScheme {
    /// Whether the signed text or a slot contains a source.
    func uses(_ source: SchemeTemplate.Source) -> Bool {
        let templates = (injections + placements).flatMap(\.templates)
        return templates.contains { $0.sources.contains(source) }
            || ([text] + values).contains { $0.templates.contains { $0.sources.contains(source) } }
    }

    /// The digests of the body that the scheme signs.
    var bodyDigests: Set<BodyDigest> {
        let slots = (injections + placements).flatMap(\.templates).map(Step.template)
        return Set((values + slots + [text]).flatMap(\.bodyDigests))
    }
}

extension CompiledScheme.Step {
    /// The steps directly in this one.
    var inner: [CompiledScheme.Step] {
        switch self {
        case .template, .path: []
        case .join(let steps, _): steps
        case .hash(_, let step, _): [step]
        case .parameters(let rule): rule.added.map { .template($0.value) }
        case .choice(let choices): choices.map(\.1)
        }
    }

    /// All templates in the step.
    fileprivate var templates: [SchemeTemplate] {
        if case .template(let template) = self { [template] } else { inner.flatMap(\.templates) }
    }

    /// Whether the step is the unchanged body.
    var isBody: Bool {
        if case .template(let template) = self { template.sources == [.body] } else { false }
    }

    fileprivate var bodyDigests: [BodyDigest] {
        guard case .hash(let function, let step, _) = self, step.isBody else {
            return inner.flatMap(\.bodyDigests)
        }
        return function.bodyDigest.map { [$0] } ?? []
    }
}
