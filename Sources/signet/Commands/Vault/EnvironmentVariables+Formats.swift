#if Tool
import SignetBase
import SignetCrypto
import SignetJSON
import SignetVault

extension EnvironmentVariables {
    /// Lines `NAME=value` for `docker run --env-file`.
    ///
    /// Docker (docker/cli, `pkg/kvfile`) takes a line's text after the first `=` as it is, without
    /// quotes or escapes, drops a carriage return at its end, and reads no line of 64 KiB. It skips
    /// comments, which are marks for `EnvironmentFile`.
    var dockerText: String {
        get throws(ToolError) {
            var text = ""
            for entry in entries {
                let line = "\(entry.name)=\(entry.text)"
                if line.utf8.contains(ASCII.lineFeed) {
                    throw unusable(
                        entry.key, in: "docker", because: "has more than one line",
                        instead:
                            "systemd and kubernetes can; or start the container with signet exec "
                            + "--only \(printable(entry.key)) -- docker run --env \(entry.name)")
                }
                if line.utf8.last == ASCII.carriageReturn {
                    throw unusable(entry.key, in: "docker", because: "ends with a carriage return")
                }
                if line.utf8.count >= 1 << 16 {
                    throw unusable(entry.key, in: "docker", because: "is 64 KiB long or longer")
                }
                if let mark = EnvironmentFile.mark(of: entry.value) { text += mark.comment + "\n" }
                text += line + "\n"
            }
            return text
        }
    }

    /// Lines `NAME="value"` for `EnvironmentFile=` of a systemd unit.
    ///
    /// In double quotes, a backslash stands before the four characters that have a meaning there
    /// (systemd.exec(5)).
    var systemdText: String {
        get throws(ToolError) {
            for entry in entries
            where !entry.text.unicodeScalars.allSatisfy(Self.isValidForSystemd) {
                throw unusable(
                    entry.key, in: "systemd",
                    because: "has a noncharacter of Unicode or a byte order mark")
            }
            return lines { text in
                var quoted = "\""
                for scalar in text.unicodeScalars {
                    if "\"\\`$".unicodeScalars.contains(scalar) { quoted += "\\" }
                    quoted.unicodeScalars.append(scalar)
                }
                return quoted + "\""
            }
        }
    }

    /// The manifest of a Kubernetes Secret in YAML.
    ///
    /// - Parameter name: A DNS subdomain (RFC 1123): small letters, digits, `-` and `.`.
    /// - Throws: `unusable-name` for another name; `unusable-value` for more than 1 MiB of values.
    func secretManifest(named name: String) throws(ToolError) -> String {
        guard Self.isSubdomain(name) else {
            throw ToolError(
                .usage("unusable-name"),
                "a Secret can't be named \(quoted(name)): expected small letters, digits, \"-\" and "
                    + "\".\", with a letter or digit at both ends of each part; give --name")
        }
        var data = JSONObject()
        var marked: [EnvironmentFile.Mark: [String]] = [:]
        var size = 0
        for entry in entries {
            size += entry.text.utf8.count
            // The API's limits for a Secret: 1 MiB of values, and names of 253 letters.
            guard size <= 1 << 20 else {
                throw unusable(
                    entry.key, in: "kubernetes",
                    because: "makes the Secret larger than 1 MiB; choose keys with --only")
            }
            guard entry.name.utf8.count <= 253 else {
                throw unusable(entry.key, in: "kubernetes", because: "has a name that is too long")
            }
            data[entry.name] = .string(Base64.encode(Array(entry.text.utf8), as: .standard))
            if let mark = EnvironmentFile.mark(of: entry.value) {
                marked[mark, default: []].append(entry.name)
            }
        }
        var metadata: JSONObject = ["name": .string(name)]
        if !marked.isEmpty {
            let annotations = EnvironmentFile.Mark.allCases.compactMap { mark in
                marked[mark].map { names in
                    (
                        name: SecretManifest.annotation(for: mark),
                        value: JSONValue.string(names.joined(separator: ","))
                    )
                }
            }
            metadata["annotations"] = .object(JSONObject(annotations))
        }
        return YAMLWriter.text(of: [
            "apiVersion": "v1", "kind": "Secret", "metadata": .object(metadata),
            "type": "Opaque", "data": .object(data),
        ])
    }

    private func unusable(
        _ key: String, in format: String, because reason: String, instead: String? = nil
    ) -> ToolError {
        ToolError(
            .usage("unusable-value"),
            "the value of \(quoted(key)) \(reason), which --format \(format) can't hold"
                + (instead.map { "; \($0)" } ?? ""))
    }

    private static func isValidForSystemd(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value != 0xFEFF && !scalar.properties.isNoncharacterCodePoint
    }

    private static func isSubdomain(_ name: String) -> Bool {
        let isAllowed: (UInt8) -> Bool = { byte in
            byte.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        }
        return name.utf8.count <= 253
            && name.utf8.split(separator: ASCII.dot, omittingEmptySubsequences: false).allSatisfy {
                label in
                label.first.map(isAllowed) == true && label.last.map(isAllowed) == true
                    && label.allSatisfy { isAllowed($0) || $0 == ASCII.minus }
            }
    }
}
#endif
