#if Tool
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem
import SignetVault

/// Values of a configuration as environment variables, named as `.environment(prefix:)` reads them.
struct EnvironmentVariables {
    /// A variable.
    struct Entry {
        let key: String
        let name: String
        let value: JSONValue
        /// The variable's text: a text as it is, anything else as JSON.
        let text: String
    }

    /// The variables, in the order of the keys.
    let entries: [Entry]

    /// Names the variables and writes their texts.
    ///
    /// - Parameter selection: The keys whose variables may have a reserved name.
    /// - Throws: `unusable-name` for a name that sh refuses; `reserved-name` for one that the
    ///   loader, sh or an interpreter reads; `name-collision`; `zero-byte`. The message names keys,
    ///   never a value.
    init(
        _ values: JSONObject, prefix: String, allowing selection: KeySelection
    ) throws(ToolError) {
        var entries: [Entry] = []
        var keys: [String: String] = [:]
        for (key, value) in values {
            let name = ConfigurationInput.variable(for: key, prefix: prefix)
            guard Self.isUsable(name) else {
                throw ToolError(
                    .usage("unusable-name"),
                    "\(quoted(key)) would be the variable \(quoted(name)), which sh does not take: "
                        + "expected letters, digits and _, no digit first; --prefix changes it")
            }
            guard !Self.isReserved(name) || selection.names(key) else {
                throw ToolError(
                    .usage("reserved-name"),
                    "\(quoted(key)) would be the variable \(quoted(name)), which the loader, the "
                        + "shell or an interpreter reads; --prefix changes the name, and --only "
                        + "\(printable(key)) allows it")
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
            entries.append(Entry(key: key, name: name, value: value, text: text))
        }
        self.entries = entries
    }

    /// Lines `NAME='value'` for sh. Nothing in the quotes has a meaning there.
    var shellText: String { lines(quoting: ShellCommand.word) }

    /// Lines with values in quotes.
    ///
    /// Numbers and booleans have no quotes, and a mark is before lists and maps, so that
    /// `EnvironmentFile` reads the same values.
    func lines(quoting quoted: (String) -> String) -> String {
        entries.map { entry in
            let mark = EnvironmentFile.mark(of: entry.value)
            let isQuoted = mark != nil || entry.value.string != nil
            return (mark == .json ? "\(EnvironmentFile.Mark.json.comment)\n" : "")
                + "\(entry.name)=\(isQuoted ? quoted(entry.text) : entry.text)\n"
        }.joined()
    }

    private static func isUsable(_ name: String) -> Bool {
        let bytes = name.utf8
        guard bytes.first?.isDigit == false else { return false }
        return bytes.allSatisfy { $0.isLetterOrDigit || $0 == ASCII.underscore }
    }

    private static func isReserved(_ name: String) -> Bool {
        reserved.contains(name) || reservedPrefixes.contains { name.utf8.starts(with: $0.utf8) }
    }

    /// The variables that sh and bash read or set, those that the C library reads in every program
    /// (its list of variables that a privileged program removes), and those by which an interpreter
    /// or a usual program loads code, starts another program, or trusts other servers.
    private static let reserved: Set<String> = [
        "PATH", "IFS", "ENV", "HOME", "PWD", "OLDPWD", "SHELL", "SHELLOPTS", "BASHOPTS", "CDPATH",
        "FPATH", "FUNCNEST", "GLOBIGNORE", "EXECIGNORE", "HISTFILE", "INPUTRC", "MAIL", "MAILPATH",
        "OPTARG", "OPTIND", "OPTERR", "POSIXLY_CORRECT", "PPID", "PROMPT_COMMAND", "PS0", "PS1",
        "PS2", "PS3", "PS4", "UID", "EUID", "GROUPS", "SHLVL", "TIMEFORMAT", "TMPDIR", "TERMINFO",
        "GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "HOSTALIASES", "LOCALDOMAIN", "LOCPATH",
        "MALLOC_TRACE", "NIS_PATH", "NLSPATH", "RESOLV_HOST_CONF", "RES_OPTIONS", "TZDIR",
        "ZDOTDIR", "_",
        "NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED",
        "PERL5OPT", "PERL5LIB", "PERL5DB", "PERLLIB", "RUBYOPT", "RUBYLIB", "GEM_PATH", "GEM_HOME",
        "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "LUA_INIT",
        "LUA_PATH", "LUA_CPATH", "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE", "R_PROFILE_USER",
        "R_ENVIRON", "JULIA_LOAD_PATH", "TCLLIBPATH", "GOFLAGS", "RUSTC_WRAPPER", "BROWSER",
        "EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "SSH_ASKPASS",
        "SUDO_ASKPASS", "RSYNC_RSH", "CVS_RSH", "DOTNET_STARTUP_HOOKS", "OPENSSL_CONF",
        "OPENSSL_MODULES", "OPENSSL_ENGINES", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP",
        "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONWARNINGS", "PYTHONPLATLIBDIR",
        "PYTHONUSERBASE", "PYTHONEXECUTABLE", "PYTHONPYCACHEPREFIX", "GIT_SSH",
        "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER",
        "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_DIR",
        "GIT_WORK_TREE", "GIT_ALLOW_PROTOCOL", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
        "SSLKEYLOGFILE", "MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS", "MFLAGS",
    ]
    private static let reservedPrefixes = [
        "LD_", "DYLD_", "BASH_", "MALLOC_", "GIT_CONFIG", "GIT_SSL_", "CORECLR_PROFILER",
        "COR_PROFILER", "NPM_CONFIG_",
    ]
}
#endif
