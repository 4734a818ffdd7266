/// A compiled scheme with the settings of one signer or verifier.
///
/// Evaluates all that depends on the settings alone, once for all messages: conditions are decided,
/// and settings become literals.
final class ConfiguredScheme: Sendable {
    let compiled: CompiledScheme
    let settings: [[UInt8]?]
    /// The steps of the scheme's values, by index.
    let values: [CompiledScheme.Step]
    /// The step of the signed text.
    let text: CompiledScheme.Step
    /// The slots that a signer writes before signing.
    let injections: [CompiledScheme.Slot]
    /// The slots that a signer writes after signing.
    let placements: [CompiledScheme.Slot]
    /// The slots as a verifier reads them: their settings are placeholders, whose text must match.
    let readInjections: [CompiledScheme.Slot]
    let readPlacements: [CompiledScheme.Slot]
    /// The lowercase names of the signed fields that a signer adds before signing. If a received
    /// signature lists its fields, it must list these.
    let injectedNames: [[UInt8]]
    let usesNonce: Bool
    let usesLifetime: Bool
    let usesKeyID: Bool
    /// The parts of a message that the signed text contains.
    let coverage: SchemeCoverage

    /// Applies settings to a scheme.
    ///
    /// - Throws: As ``CompiledScheme/settingValues(_:)``.
    init(
        _ compiled: CompiledScheme, settings given: [String: String]
    ) throws(SigningError) {
        let settings = try compiled.settingValues(given)
        self.compiled = compiled
        self.settings = settings
        values = compiled.values.map { $0.configured(with: settings) }
        text = compiled.text.configured(with: settings)
        readInjections = compiled.injections.filter { $0.condition.holds(settings) }
        readPlacements = compiled.placements.filter { $0.condition.holds(settings) }
        injections = readInjections.map { $0.configured(with: settings) }
        placements = readPlacements.map { $0.configured(with: settings) }
        injectedNames = readInjections.compactMap { slot in
            guard case .header(let field) = slot.location else { return nil }
            let name = field.utf8.map(\.lowercased)
            return compiled.headers?.selects(name) == true ? name : nil
        }
        usesNonce = compiled.uses(.nonce)
        usesLifetime = compiled.uses(.lifetime)
        usesKeyID = compiled.uses(.keyID)
        coverage = SchemeCoverage(of: compiled, text: text, values: values)
    }
}

extension CompiledScheme.Step {
    /// Returns the step without choices and settings.
    fileprivate func configured(with settings: [[UInt8]?]) -> CompiledScheme.Step {
        switch self {
        case .template(let template): return .template(template.configured(with: settings))
        case .join(let steps, let separator):
            return .joined(steps.map { $0.configured(with: settings) }, by: separator)
        case .hash(let function, let step, let encoding):
            return .hash(function, step.configured(with: settings), encoding)
        case .path(let normalize, let encodes):
            let normalizes = normalize?.holds(settings) == true
            return .path(normalize: normalizes ? .always : nil, encodes: encodes)
        case .parameters(let rule):
            return .parameters(
                CompiledScheme.ParameterRule(
                    origins: rule.origins, decodes: rule.decodes, encodes: rule.encodes,
                    skipsEmpty: rule.skipsEmpty, except: rule.except,
                    added: rule.added.map { ($0.name, $0.value.configured(with: settings)) },
                    order: rule.order, assign: rule.assign, separator: rule.separator))
        case .choice(let choices):
            let chosen = choices.first { $0.0.holds(settings) }?.1
            return chosen?.configured(with: settings) ?? .template(SchemeTemplate([]))
        }
    }

    /// Joins steps by a separator, and merges adjacent templates into one.
    private static func joined(
        _ steps: [CompiledScheme.Step], by separator: [UInt8]
    ) -> CompiledScheme.Step {
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

extension CompiledScheme.Slot {
    fileprivate func configured(with settings: [[UInt8]?]) -> CompiledScheme.Slot {
        CompiledScheme.Slot(
            condition: .always, location: location,
            templates: templates.map { $0.configured(with: settings) },
            separator: separator, shape: shape)
    }
}

extension SchemeTemplate {
    /// Returns the template with its settings as literals, and adjacent literals merged.
    fileprivate func configured(with settings: [[UInt8]?]) -> SchemeTemplate {
        SchemeTemplate(
            merging: sources.map { source in
                if case .setting(let index) = source {
                    .literal(settings[index] ?? [])
                } else {
                    source
                }
            })
    }

    /// Creates a template, and merges adjacent literals.
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
