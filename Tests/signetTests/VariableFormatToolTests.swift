import Foundation
import SignetJSON
import TestSupport
import Testing

/// The values that `vault init` reads from files for Docker, systemd and Kubernetes.
@Suite struct VariableFormatToolTests {
    private static let systemd =
        "/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator"

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func initialize(_ format: String, _ text: String) async throws -> ProcessOutput {
        try folder.write(text, to: "config")
        return try await SignetTool.run(
            [
                "vault", "init", "config", "--format", format, "--out", "out", "--keys", "keys",
                "--app-id", "com.example.shop", "--json",
            ], directory: folder.url)
    }

    private func values(
        _ format: String, _ text: String, at location: SourceLocation = #_sourceLocation
    ) async throws -> JSONValue {
        let made = try await initialize(format, text)
        try #require(made.exit == 0, "\(made.text)", sourceLocation: location)
        let exported = try await SignetTool.run(
            ["vault", "export", "--show-secrets", "--project", "out/signet.json"],
            directory: folder.url)
        return try JSONValue(parsing: exported.stdout)
    }

    private func expectRefusal(_ format: String, _ text: String, naming name: String) async throws {
        let output = try await initialize(format, text)
        try expect(output, exit: 2, code: "malformed-input")
        #expect(output.text.contains(name), "\(output.text)")
        #expect(!output.text.contains("ZZZZZZ") && !output.stderr.contains("ZZZZZZ"))
        #expect(try folder.contents() == ["config"])
    }

    // MARK: - Docker

    @Test func dockerLinesAreTakenAsTheyAre() async throws {
        let text = """
            # a comment
              A= "x" # y\t
            B=a=b\\n\r
            \t# json
            C=[1,"x"]
            # text
            D=5

            # text or not
            E=5
            F='true'
            G=true
            H=
            I_J=$HOME `id`
            """
        #expect(
            try await values("docker", text).text
                == #"{"a":" \"x\" # y\t","b":"a=b\\n","c":[1,"x"],"d":"5","e":5,"f":"'true'","#
                + #""g":true,"h":"","i.j":"$HOME `id`"}"#)
    }

    @Test(arguments: [
        ("A", "line 1"), ("X=1\nA", "line 2"), ("A =1", "line 1"), ("export A=1", "line 1"),
        ("=ZZZZZZ", "line 1"), ("A-B=1", "line 1"), ("A=1\nA=ZZZZZZ", "line 2"),
        ("A_B=1\na_b=ZZZZZZ", "line 2"), ("_=1", "line 1"), ("; c\nA=1", "line 1"),
        ("# json\nA=ZZZZZZ", "line 2"), ("\n\n# json\nA=", "line 4"), ("\u{A0}A=1", "line 1"),
        ("A=\0", "zero byte"), ("A", "docker run --env-file"),
    ])
    func refusesAnInvalidDockerFile(_ text: String, _ name: String) async throws {
        try await expectRefusal("docker", text, naming: name)
    }

    // MARK: - systemd

    private static let systemdTexts = [
        #"A="x\`y\n\t\$\"\\" "z"'w\n'  "#, "A=a\\ b\\\n c\\q  \r; comment\rB=1\r\n",
        "A='a\nb'\"c\"  # d",
        "A  =  5 \nB=\"5\"\nC=\\5\nD=5 # e\nE=-1.50e3", "A=\"a\\\nb\"\nB=x\"y\"'z'\nC='x'y \"z\"",
        "A=x\\  \nB=\\\n  \nC=\\\\\nD=\"\"\nE='' '' ' '", ";c=1\n#d=2\n \t ;e=3\nA=;#", "A=x\\",
        "A=é😀 \u{2028}\u{A0}\nB=\"\u{85}\"", "A=\tx\ty\t", "A=true\nB='true'\nC=tr\"ue\"",
    ]

    /// The lines that systemd's generator prints: values in double quotes, or plain words.
    private func printedValues(_ text: String) -> [String: String] {
        var values: [String: String] = [:]
        for line in text.split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            var rest = line[equals...].dropFirst()
            let isQuoted = rest.first == "\""
            if isQuoted { rest = rest.dropFirst().dropLast() }
            var value = ""
            while let character = rest.popFirst() {
                guard isQuoted, character == "\\", let escaped = rest.popFirst() else {
                    value.append(character)
                    continue
                }
                value.append(["n": "\n", "t": "\t", "r": "\r"][escaped] ?? escaped)
            }
            values[line[..<equals].lowercased()] = value
        }
        return values
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: systemd)), arguments: systemdTexts)
    func systemdReadsTheSameValues(_ text: String) async throws {
        let configuration = folder.url.appending(path: "xdg/environment.d")
        try FileManager.default.createDirectory(
            at: configuration, withIntermediateDirectories: true)
        try folder.write(text, to: "xdg/environment.d/a.conf")
        let printed = try await ChildProcess.run(
            Self.systemd, [], environment: ["XDG_CONFIG_HOME": folder.path("xdg")],
            directory: folder.url)
        #expect(printed.exit == 0, "\(printed.stderr)")
        let wanted = printedValues(printed.text)
        let found = try await values("systemd", text)
        // The generator prints the system's own variables too, which have longer names.
        let names = wanted.filter { $0.key.count == 1 && !$0.value.isEmpty }.map(\.key)
        #expect(Set(names).isSubset(of: found.object?.memberNames ?? []), "\(text)")
        #expect(found.object?.isEmpty == false)
        for (name, value) in found.object ?? [:] {
            // The generator leaves out an empty value.
            #expect((value.string ?? value.text) == wanted[name] ?? "", "\(text)")
        }
    }

    @Test func systemdValuesInQuotesAreTexts() async throws {
        let text = "A=5\nB=\"5\"\nC='5'\nD=\\5\n# json\nE=\"[1]\"\n# json\nF=\"5\"\n# text\nG=true"
        #expect(
            try await values("systemd", text).text
                == #"{"a":5,"b":"5","c":"5","d":"5","e":[1],"f":5,"g":true}"#)
    }

    @Test(arguments: [
        ("A", "line 1"), ("export A=1", "line 1"), ("A='ZZZZZZ", "line 1"),
        ("A=\"ZZZZZZ\\\"", "line 1"),
        ("X='\n\n'\nA='x' \"ZZZZZZ", "line 4"), ("# c\\\nA=1", "backslash"),
        ("; c\\\r\nA=1", "line 1"),
        ("# json\nA='ZZZZZZ'", "line 2"), ("A=1\nA=2", "line 2"), ("X=\\\n1\nA", "line 3"),
        ("A=x\0", "EnvironmentFile="),
    ])
    func refusesAnInvalidSystemdFile(_ text: String, _ name: String) async throws {
        try await expectRefusal("systemd", text, naming: name)
    }

    // MARK: - Kubernetes

    /// A manifest with these lines after its kind.
    private static func manifest(_ lines: String) -> String {
        "apiVersion: v1\nkind: Secret\n" + lines
    }

    @Test func aSecretBecomesSecretKeys() async throws {
        let text = Self.manifest(
            """
            metadata:
              name: shop
              annotations: {signet/json: "LIST,GONE", signet/text: NUMBER, other: 5}
            type: Opaque
            immutable: true
            data:
              DB_PASSWORD: w6kKAFg=
              tls.crt: |
                QUFB
                QkJC
              PORT: NTQzMg==
              NUMBER: NTQzMg==
              LIST: WzEsInQiXQ==
              EMPTY: ""
              replaced: QQ==
              gone:
            stringData: {replaced: "no", on: 'true'}
            """)
        #expect(
            try await values("kubernetes", text).text
                == #"{"db.password":"é\n\u0000X","tls.crt":"AAABBB","port":5432,"number":"5432","#
                + #""list":[1,"t"],"empty":"","replaced":"no","on":true}"#)
        let list = try await SignetTool.run(
            ["vault", "list", "--project", "out/signet.json"], directory: folder.url)
        #expect(list.text.contains("secret") && !list.text.contains("public"))
        #expect(try JSONValue(parsing: folder.read("out/defaults.json")) == [:])
    }

    @Test func aSecretInJSONIsRead() async throws {
        let text = #"{"apiVersion":"v1","kind":"Secret","data":{"A":"eA=="},"metadata":null}"#
        #expect(try await values("kubernetes", text).text == #"{"a":"x"}"#)
    }

    @Test(arguments: ["config.yaml", "config.json"])
    func aNoteNamesTheFormatOfASecret(_ name: String) async throws {
        try folder.write(
            #"{"apiVersion":"v1","kind":"Secret","data":{"A":"ZZZZ"}}"#, to: name)
        let made = try await SignetTool.run(
            ["vault", "init", name, "--keys", "keys", "--app-id", "com.example.shop"],
            directory: folder.url)
        #expect(made.exit == 0 && made.stderr.contains("--format kubernetes"), "\(made.stderr)")
        #expect(try JSONValue(parsing: folder.read("defaults.json"))["data.A"] == nil)
    }

    @Test(arguments: [
        ("data: {A: ZZZZZZ}", "\"A\" is not canonical base64"), ("data: {A: ZZZZZZ==}", "base64"),
        ("data: {A: '/w=='}", "\"A\" is not UTF-8"),
        ("data: {A: 1234}", "string as the value of \\\"A\\\""),
        ("data: {A: [ZZZZZZ]}", "found array"), ("data: [ZZZZZZ]", "expected object in data"),
        ("stringData: {A: 5}", "found number"),
        ("stringData: ZZZZZZ", "expected object in stringData"),
        ("data: {A B: eA==}", "name of an entry"), ("data: {'': eA==}", "name of an entry"),
        ("data: {é: eA==}", "name of an entry"), ("data: {'.': eA==}", "without a letter or digit"),
        ("data: {A_B: eA==, a.b: eQ==}", "two names for the key \\\"a.b\\\""),
        ("data: {A: eA==}\nmetadata: {annotations: {signet/json: A}}", "\"A\" is not JSON"),
        ("data: {A: eA==}\nmetadata: {annotations: {signet/json: [A]}}", "signet/json"),
        ("data: {A: eA==}\nmetadata: {annotations: [signet/json]}", "annotations"),
        ("data: {A: eA==}\n---\n{}", "manifest"), ("data: {A: eA==, A: eA==}", "line"),
        ("", "no key"),
        ("data:", "no key"),
    ])
    func refusesAnInvalidSecret(_ lines: String, _ name: String) async throws {
        try await expectRefusal(
            "kubernetes", Self.manifest(lines),
            naming: name.replacing("\"A\"", with: "\\\"A\\\""))
    }

    @Test(arguments: [
        "", "a: 1", "kind: Secret\ndata: {A: eA==}",
        "apiVersion: v1\nkind: ConfigMap\ndata: {A: x}",
        "apiVersion: v1\nkind: List\nitems: []", "apiVersion: v2\nkind: Secret\ndata: {A: eA==}",
        "apiVersion: v1\nkind: [Secret]\ndata: {A: eA==}", "- 1",
    ])
    func refusesOtherDocuments(_ text: String) async throws {
        try await expectRefusal("kubernetes", text, naming: "not the manifest of a Secret")
    }
}
