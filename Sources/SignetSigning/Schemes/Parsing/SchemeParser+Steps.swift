import SignetJSON

extension SchemeParser {
    static let stepKinds =
        "a string, an array of choices, or one of join, hash, path, parameters"

    /// Parses a step, a part of the signed text, and limits its weight.
    func step(_ value: SchemeValue) throws(SigningError) -> CompiledScheme.Step {
        let step = try unboundedStep(value)
        let weight = weight(of: step)
        guard weight <= SchemeLimits.weight else {
            throw value.malformed(
                "found \(weight) placeholders after all values are expanded, expected at most "
                    + "\(SchemeLimits.weight)")
        }
        return step
    }

    private func unboundedStep(_ value: SchemeValue) throws(SigningError) -> CompiledScheme.Step {
        if value.json?.string != nil { return .template(try template(value)) }
        if let choices = value.json?.array { return try choice(value, count: choices.count) }
        if value.has("join") {
            try value.requireMembers(in: ["join", "with"])
            let parts = try value["join"].elements(count: 1...SchemeLimits.joined, of: "parts")
            return .join(try parts.map(step), separator: Array(try value["with"].string().utf8))
        }
        if value.has("hash") {
            try value.requireMembers(in: ["hash", "of", "as"])
            return .hash(
                try value["hash"].choice(), try step(value["of"]), try value["as"].choice())
        }
        if value.has("path") {
            try value.requireMembers(in: ["path"])
            let path = value["path"]
            try path.requireMembers(in: ["normalize", "encode"])
            return .path(
                normalize: try path["normalize"].ifPresent.map(condition),
                encodes: try path["encode"].flag())
        }
        if value.has("parameters") {
            try value.requireMembers(in: ["parameters"])
            return .parameters(try parameterRule(value["parameters"]))
        }
        throw value.wrong(expected: Self.stepKinds)
    }

    /// Parses choices. The last one, and no other, has no condition, so that one always applies.
    private func choice(
        _ value: SchemeValue, count: Int
    ) throws(SigningError) -> CompiledScheme.Step {
        guard (1...SchemeLimits.choices).contains(count) else {
            throw value.malformed(
                "found an array of \(count), expected 1 to \(SchemeLimits.choices) choices")
        }
        var result: [(CompiledScheme.Condition, CompiledScheme.Step)] = []
        for choice in try value.elements(count: 1...count, of: "choices") {
            try choice.requireMembers(in: ["when", "is"])
            let when = choice["when"]
            guard choice.has("when") != (result.count == count - 1) else {
                throw when.wrong(
                    expected: choice.has("when")
                        ? "no condition in the last choice, which applies if no other does"
                        : "a condition in every choice but the last")
            }
            let condition = try when.ifPresent.map(self.condition) ?? .always
            result.append((condition, try step(choice["is"])))
        }
        return .choice(result)
    }

    private func parameterRule(
        _ rule: SchemeValue
    ) throws(SigningError) -> CompiledScheme.ParameterRule {
        try rule.requireMembers(in: [
            "from", "decode", "encode", "skipEmpty", "unique", "except", "add", "sort", "assign",
            "with",
        ])
        let origins: [CompiledScheme.ParameterRule.Origin] = try rule["from"].choices()
        var added: [(name: [UInt8], value: SchemeTemplate)] = []
        let add = try rule["add"].ifPresent?.members(atMost: SchemeLimits.added, of: "parameters")
        for (name, value) in add ?? [] { added.append((Array(name.utf8), try template(value))) }
        let order: CompiledScheme.ParameterRule.Order = try rule["sort"].choice()
        let isUnique = try rule["unique"].flag()
        guard !isUnique || order == .keyValue else {
            throw rule["unique"].wrong(expected: "it only with the order key-value")
        }
        return CompiledScheme.ParameterRule(
            origins: origins, decodes: try rule["decode"].flag(),
            encodes: try rule["encode"].flag(), skipsEmpty: try rule["skipEmpty"].flag(),
            isUnique: isUnique,
            except: try rule["except"].ifPresent?.strings(count: 0...SchemeLimits.names)
                .map { Array($0.text.utf8) } ?? [],
            added: added, order: order,
            assign: Array(try rule["assign"].ifPresent?.string().utf8 ?? "=".utf8),
            separator: Array(try rule["with"].ifPresent?.string().utf8 ?? "&".utf8))
    }

    // MARK: Weight

    /// Returns the number of placeholders in a step after all its values are expanded.
    func weight(of step: CompiledScheme.Step) -> Int {
        switch step {
        case .template(let template): return weight(of: template)
        case .choice(let choices): return choices.reduce(1) { max($0, weight(of: $1.1)) }
        default: return step.inner.reduce(1) { $0 + weight(of: $1) }
        }
    }

    private func weight(of template: SchemeTemplate) -> Int {
        // The sum cannot overflow: no value weighs more than the limit.
        template.sources.reduce(0) { sum, source in
            if case .value(let index) = source { return sum + 1 + values[index].weight }
            return sum + 1
        }
    }
}
