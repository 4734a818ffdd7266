internal import SignetJSON

extension SchemeParser {
    static let stepKinds =
        "a string, an array of choices, or one of join, hash, path, parameters"

    /// Parses a step, a part of the signed text, and limits its weight.
    func step(_ value: JSONValue, at path: String) throws(SigningError) -> CompiledScheme.Step {
        let step = try unboundedStep(value, at: path)
        let weight = weight(of: step)
        guard weight <= SchemeLimits.weight else {
            throw SigningError(
                .malformedScheme,
                "\(path): found \(weight) placeholders after all values are expanded, expected at "
                    + "most \(SchemeLimits.weight)")
        }
        return step
    }

    private func unboundedStep(
        _ value: JSONValue, at path: String
    ) throws(SigningError) -> CompiledScheme.Step {
        if let text = value.string { return .template(try template(text, at: path)) }
        if value.array != nil { return try choice(value, at: path) }
        guard let object = value.object else {
            throw SchemeReader.wrong(value, at: path, expected: Self.stepKinds)
        }
        let reader = SchemeReader(object, at: path)
        if reader.has("join") {
            try reader.requireMembers(in: ["join", "with"])
            var steps: [CompiledScheme.Step] = []
            let parts = try reader.array("join", count: 1...SchemeLimits.joined, of: "parts")
            for (part, path) in parts { steps.append(try step(part, at: path)) }
            return .join(steps, separator: Array(try reader.string("with").utf8))
        }
        if reader.has("hash") {
            try reader.requireMembers(in: ["hash", "of", "as"])
            return .hash(
                try reader.choice("hash"),
                try step(reader.value("of", expected: Self.stepKinds), at: reader.path(to: "of")),
                try reader.choice("as"))
        }
        if reader.has("path") {
            let path = try reader.requiredObject("path")
            try reader.requireMembers(in: ["path"])
            try path.requireMembers(in: ["normalize", "encode"])
            var normalize: CompiledScheme.Condition?
            if let when = try path.optionalObject("normalize") { normalize = try condition(when) }
            return .path(normalize: normalize, encodes: try path.flag("encode"))
        }
        if reader.has("parameters") {
            try reader.requireMembers(in: ["parameters"])
            return .parameters(try parameterRule(reader.requiredObject("parameters")))
        }
        throw SchemeReader.wrong(value, at: path, expected: Self.stepKinds)
    }

    /// Parses choices. The last one, and no other, has no condition, so that one always applies.
    private func choice(
        _ value: JSONValue, at path: String
    ) throws(SigningError) -> CompiledScheme.Step {
        let choices = value.array ?? []
        guard (1...SchemeLimits.choices).contains(choices.count) else {
            throw SigningError(
                .malformedScheme,
                "\(path): found an array of \(choices.count), expected 1 to "
                    + "\(SchemeLimits.choices) choices")
        }
        var result: [(CompiledScheme.Condition, CompiledScheme.Step)] = []
        for (index, choice) in choices.enumerated() {
            let choice = try SchemeReader(choice, at: "\(path)[\(index)]")
            try choice.requireMembers(in: ["when", "is"])
            guard choice.has("when") != (index == choices.count - 1) else {
                throw choice.wrong(
                    "when",
                    expected: choice.has("when")
                        ? "no condition in the last choice, which applies if no other does"
                        : "a condition in every choice but the last")
            }
            result.append(
                (
                    try condition(choice.optionalObject("when")),
                    try step(
                        choice.value("is", expected: Self.stepKinds), at: choice.path(to: "is"))
                ))
        }
        return .choice(result)
    }

    private func parameterRule(
        _ rule: SchemeReader
    ) throws(SigningError) -> CompiledScheme.ParameterRule {
        try rule.requireMembers(in: [
            "from", "decode", "encode", "skipEmpty", "except", "add", "sort", "assign", "with",
        ])
        let origins: [CompiledScheme.ParameterRule.Origin] = try rule.choices("from")
        var added: [(name: [UInt8], value: SchemeTemplate)] = []
        if let add = try rule.optionalObject("add") {
            try add.requireCount(atMost: SchemeLimits.added, of: "parameters")
            for name in add.object.memberNames {
                let value = try template(add.string(name), at: add.path(to: name))
                added.append((Array(name.utf8), value))
            }
        }
        return CompiledScheme.ParameterRule(
            origins: origins, decodes: try rule.flag("decode"), encodes: try rule.flag("encode"),
            skipsEmpty: try rule.flag("skipEmpty"),
            except: try rule.optionalStrings("except", count: 0...SchemeLimits.names)?
                .map { Array($0.text.utf8) } ?? [],
            added: added, order: try rule.choice("sort"),
            assign: Array(try rule.optionalString("assign")?.utf8 ?? "=".utf8),
            separator: Array(try rule.optionalString("with")?.utf8 ?? "&".utf8))
    }

    // MARK: Weight

    /// Returns the number of placeholders in a step after all its values are expanded.
    private func weight(of step: CompiledScheme.Step) -> Int {
        switch step {
        case .template(let template): return weight(of: template)
        case .choice(let choices): return choices.reduce(1) { max($0, weight(of: $1.1)) }
        default: return step.inner.reduce(1) { $0 + weight(of: $1) }
        }
    }

    private func weight(of template: SchemeTemplate) -> Int {
        // The sum cannot overflow: no value weighs more than the limit.
        template.sources.reduce(0) { sum, source in
            if case .value(let index) = source { return sum + 1 + weight(of: values[index].step) }
            return sum + 1
        }
    }
}
