import Foundation
import SignetJSON
import TestSupport
import Testing

/// The addresses of a name are kept for `engine.dnsCacheTime`.
@Suite struct NameLookUpTests {
    /// A library that writes each look-up to a file, and resolves `….example.test` to loopback.
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <netdb.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>

        int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                        struct addrinfo **result) {
            int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
                dlsym(RTLD_NEXT, "getaddrinfo");
            if (name && strstr(name, ".example.test")) {
                int file = open(getenv("LOOK_UPS"), O_WRONLY | O_APPEND | O_CREAT, 0600);
                if (write(file, "look-up\\n", 8) != 8) abort();
                close(file);
                name = "127.0.0.1";
            }
            return real(name, service, hints, result);
        }
        """

    @Test(.features("002-32"), arguments: [("60s", 1), ("0s", 4)])
    func aNameIsLookedUpOnce(_ time: String, _ count: Int) async throws {
        let authority = try TestAuthority.trusted.get()
        // Each response ends its connection.
        let host = try await RouteServer(["/state": "200 OK\r\n\r\n"], tls: authority.leaf)
        let folder = try TemporaryDirectory()
        try folder.write(Self.source, to: "look-ups.c")
        let compiled = try await ChildProcess.run(
            "clang", ["-shared", "-fPIC", "-o", "look-ups.so", "look-ups.c", "-ldl"],
            directory: folder.url)
        #expect(compiled.exit == 0, "\(compiled.stderr)")
        var values: JSONObject = [
            "services.a.baseURL": .string("https://shop.example.test:\(host.port)"),
            "services.a.protocol": "rest", "engine.dnsCacheTime": .string(time),
            "services.a.pins": [.string(authority.root.pin), .string(authority.leaf.pin)],
        ]
        for name in ["a", "b", "c", "d"] {
            values["probes.\(name).service"] = "a"
            values["probes.\(name).path"] = "/state"
        }
        let keys = values.map { name, value in
            let type = name == "engine.dnsCacheTime" ? "duration" : value.typeName
            let rule: JSONObject = ["type": .string(type), "visibility": "public"]
            return (name: name, value: JSONValue.object(rule))
        }
        let schema: JSONValue = ["keys": .object(JSONObject(keys))]
        try folder.write(schema.text, to: "schema.json")
        try folder.write(JSONValue.object(values).text, to: "defaults.json")
        try folder.write(
            #"{"schema":"schema.json","defaults":"defaults.json","caFile":"\#(authority.caFile)"}"#,
            to: "project.json")
        let output = try await SignetTool.run(
            ["self-check", "--project", folder.path("project.json")],
            environment: [
                "LD_PRELOAD": folder.path("look-ups.so"), "LOOK_UPS": folder.path("look-ups"),
            ])
        #expect(output.exit == 0, "\(output.text)")
        #expect(host.requests.count == 4)
        #expect(text(try folder.read("look-ups")).split(separator: "\n").count == count)
    }
}
