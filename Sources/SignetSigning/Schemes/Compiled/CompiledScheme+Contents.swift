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
    /// All templates in the step.
    fileprivate var templates: [SchemeTemplate] {
        switch self {
        case .template(let template): [template]
        case .join(let steps, _): steps.flatMap(\.templates)
        case .hash(_, let step, _): step.templates
        case .path: []
        case .parameters(let rule): rule.added.map(\.value)
        case .choice(let choices): choices.flatMap(\.1.templates)
        }
    }

    /// Whether the step is the unchanged body.
    var isBody: Bool {
        if case .template(let template) = self { template.sources == [.body] } else { false }
    }

    fileprivate var bodyDigests: [BodyDigest] {
        switch self {
        case .template, .path, .parameters: []
        case .join(let steps, _): steps.flatMap(\.bodyDigests)
        case .hash(let function, let step, _):
            step.isBody ? function.bodyDigest.map { [$0] } ?? [] : step.bodyDigests
        case .choice(let choices): choices.flatMap(\.1.bodyDigests)
        }
    }
}
