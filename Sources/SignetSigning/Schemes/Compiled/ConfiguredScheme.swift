/// A scheme's plan under the settings of one signer or verifier.
///
/// Conditions are decided, settings stand as literals, and whatever can be known before a message comes
/// is known here, so that a message meets only what depends on it.
final class ConfiguredScheme: Sendable {
    let plan: CompiledScheme
    let settings: [[UInt8]?]
    /// The steps of the plan's values, by their numbers.
    let values: [CompiledScheme.Step]
    /// The step of the text that is signed.
    let text: CompiledScheme.Step
    /// What a signer writes before and after it signs.
    let injections: [CompiledScheme.Carrier]
    let placements: [CompiledScheme.Carrier]
    /// The same as a verifier reads them: settings are places, whose text must fit.
    let readInjections: [CompiledScheme.Carrier]
    let readPlacements: [CompiledScheme.Carrier]
    /// The fields that are made before signing, in lower case, which must be among those that are signed
    /// where the signature names them.
    let injectedNames: [[UInt8]]
    let usesNonce: Bool
    let usesLifetime: Bool
    let usesKeyID: Bool
    /// What the text takes from the message.
    let coverage: SchemeCoverage

    /// Binds a plan to values of its settings.
    ///
    /// - Throws: As ``CompiledScheme/settings(_:)``.
    init(_ plan: CompiledScheme, _ given: [String: String]) throws(SigningError) {
        let settings = try plan.settings(given)
        self.plan = plan
        self.settings = settings
        values = plan.values.map { $0.bound(to: settings) }
        text = plan.text.bound(to: settings)
        readInjections = plan.carriers(plan.injections, settings)
        readPlacements = plan.carriers(plan.placements, settings)
        injections = readInjections.map { $0.bound(to: settings) }
        placements = readPlacements.map { $0.bound(to: settings) }
        injectedNames = readInjections.compactMap { carrier in
            guard case .header(let field) = carrier.place else { return nil }
            let name = field.utf8.map(\.lowercased)
            return plan.headers?.selects(name) == true ? name : nil
        }
        usesNonce = plan.uses(.nonce)
        usesLifetime = plan.uses(.lifetime)
        usesKeyID = plan.uses(.keyID)
        coverage = SchemeCoverage(plan, text: text, values: values)
    }
}

extension CompiledScheme.Step {
    /// The step under these settings: no choice is left, and no setting.
    fileprivate func bound(to settings: [[UInt8]?]) -> CompiledScheme.Step {
        switch self {
        case .template(let template): return .template(template.bound(to: settings))
        case .join(let steps, let separator):
            return .joined(steps.map { $0.bound(to: settings) }, separator)
        case .hash(let function, let step, let encoding):
            return .hash(function, step.bound(to: settings), encoding)
        case .path(let normalize, let encodes):
            let normalizes = normalize?.holds(settings) == true
            return .path(normalize: normalizes ? .always : nil, encodes: encodes)
        case .parameters(let rule):
            return .parameters(
                CompiledScheme.ParameterRule(
                    origins: rule.origins, decodes: rule.decodes, encodes: rule.encodes,
                    skipsEmpty: rule.skipsEmpty, except: rule.except,
                    added: rule.added.map { ($0.name, $0.value.bound(to: settings)) },
                    order: rule.order, assign: rule.assign, separator: rule.separator))
        case .choice(let choices):
            let chosen = choices.first { $0.0.holds(settings) }?.1
            return chosen?.bound(to: settings) ?? .template(SchemeTemplate([]))
        }
    }

    /// The steps with the separator between them, those that are templates as one.
    private static func joined(_ steps: [CompiledScheme.Step], _ separator: [UInt8]) -> CompiledScheme.Step
    {
        var joined: [CompiledScheme.Step] = []
        var sources: [SchemeTemplate.Source] = []
        for (index, step) in steps.enumerated() {
            if index > 0, !separator.isEmpty { sources.append(.literal(separator)) }
            if case .template(let template) = step {
                sources += template.sources
            } else {
                if !sources.isEmpty { joined.append(.template(SchemeTemplate(merging: sources))) }
                sources = []
                joined.append(step)
            }
        }
        let rest = CompiledScheme.Step.template(SchemeTemplate(merging: sources))
        if joined.isEmpty { return rest }
        return .join(sources.isEmpty ? joined : joined + [rest], separator: [])
    }
}

extension CompiledScheme.Carrier {
    fileprivate func bound(to settings: [[UInt8]?]) -> CompiledScheme.Carrier {
        CompiledScheme.Carrier(
            condition: .always, place: place, templates: templates.map { $0.bound(to: settings) },
            separator: separator, shape: shape)
    }
}

extension SchemeTemplate {
    /// The template with its settings as literals, and literals that meet as one.
    fileprivate func bound(to settings: [[UInt8]?]) -> SchemeTemplate {
        SchemeTemplate(
            merging: sources.map { source in
                if case .setting(let index) = source {
                    .literal(settings[index] ?? [])
                } else {
                    source
                }
            })
    }

    /// The sources with literals that meet as one.
    fileprivate init(merging sources: [Source]) {
        var merged: [Source] = []
        for source in sources {
            if case .literal(let next) = source, case .literal(let last)? = merged.last {
                merged[merged.count - 1] = .literal(last + next)
            } else {
                merged.append(source)
            }
        }
        self.init(merged)
    }
}
