internal import SignetBase
import SignetCrypto
import SignetJSON
import SignetVault

/// Values of a configuration as environment variables, named as `.environment(prefix:)` reads them.
struct EnvironmentVariables {
    /// The variables, in the order of the keys.
    let entries: [(name: String, value: String)]

    /// Names the variables and writes their values: a text as it is, anything else as JSON.
    ///
    /// - Throws: `unusable-name` for a name that sh refuses; `reserved-name` for one that the
    ///   loader or sh reads; `name-collision`; `zero-byte`. The message names keys, never a value.
    init(_ values: JSONObject, prefix: String) throws(ToolError) {
        var entries: [(name: String, value: String)] = []
        var keys: [String: String] = [:]
        for (key, value) in values {
            let name = ConfigurationInput.variable(for: key, prefix: prefix)
            guard Self.isUsable(name) else {
                throw ToolError(
                    .usage("unusable-name"),
                    "\(quoted(key)) would be the variable \(quoted(name)), which sh does not take: "
                        + "expected letters, digits and _, no digit first; --prefix changes it")
            }
            guard !Self.isReserved(name) else {
                throw ToolError(
                    .usage("reserved-name"),
                    "\(quoted(key)) would be the variable \(quoted(name)), which the loader or the "
                        + "shell reads; --prefix changes it")
            }
            if let other = keys.updateValue(key, forKey: name) {
                throw ToolError(
                    .nameCollision,
                    "\(quoted(other)) and \(quoted(key)) would both be the variable \(quoted(name))"
                )
            }
            let text = value.string ?? value.text
            guard !text.utf8.contains(0) else {
                throw ToolError(
                    .usage("zero-byte"),
                    "the value of \(quoted(key)) has a zero byte, which no variable can hold")
            }
            entries.append((name, text))
        }
        self.entries = entries
    }

    /// Lines `NAME='value'` for sh. Nothing in the quotes has a meaning there.
    var shellText: String {
        entries.map { entry in
            let parts = entry.value.split(separator: "'", omittingEmptySubsequences: false)
            return "\(entry.name)='\(parts.joined(separator: #"'\''"#))'\n"
        }.joined()
    }

    private static func isUsable(_ name: String) -> Bool {
        let bytes = name.utf8
        guard bytes.first?.isDigit == false else { return false }
        return bytes.allSatisfy { $0.isLetterOrDigit || $0 == ASCII.underscore }
    }

    private static func isReserved(_ name: String) -> Bool {
        reserved.contains(name) || reservedPrefixes.contains { name.hasPrefix($0) }
    }

    /// The variables that sh and bash read or set, and those that the C library reads in every
    /// program: its list of variables that a privileged program removes.
    private static let reserved: Set<String> = [
        "PATH", "IFS", "ENV", "HOME", "PWD", "OLDPWD", "SHELL", "SHELLOPTS", "BASHOPTS", "CDPATH",
        "FPATH", "FUNCNEST", "GLOBIGNORE", "EXECIGNORE", "HISTFILE", "INPUTRC", "MAIL", "MAILPATH",
        "OPTARG", "OPTIND", "OPTERR", "POSIXLY_CORRECT", "PPID", "PROMPT_COMMAND", "PS0", "PS1",
        "PS2", "PS3", "PS4", "UID", "EUID", "GROUPS", "SHLVL", "TIMEFORMAT", "TMPDIR", "TERMINFO",
        "GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "HOSTALIASES", "LOCALDOMAIN", "LOCPATH",
        "MALLOC_TRACE", "NIS_PATH", "NLSPATH", "RESOLV_HOST_CONF", "RES_OPTIONS", "TZDIR",
        "ZDOTDIR", "_",
    ]
    private static let reservedPrefixes = ["LD_", "DYLD_", "BASH_", "MALLOC_"]
}
