extension CompiledScheme {
    /// The values, the signed text and the templates of all slots.
    private var contents: [Step] {
        values + [text] + (injections + placements).flatMap(\.templates).map(Step.template)
    }

    /// Whether the signed text or a slot contains a source.
    func uses(_ source: SchemeTemplate.Source) -> Bool {
        contents.flatMap(\.templates).flatMap(\.sources).contains(source)
    }

    /// The digests of the body that the scheme signs.
    var bodyDigests: Set<BodyDigest> { Set(contents.flatMap(\.bodyDigests)) }
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

    /// The places whose parameters the step contains.
    var parameterOrigins: [CompiledScheme.ParameterRule.Origin] {
        if case .parameters(let rule) = self {
            rule.origins
        } else {
            inner.flatMap(\.parameterOrigins)
        }
    }

    fileprivate var bodyDigests: [BodyDigest] {
        guard case .hash(let function, let step, _) = self, step.isBody else {
            return inner.flatMap(\.bodyDigests)
        }
        return function.bodyDigest.map { [$0] } ?? []
    }
}
