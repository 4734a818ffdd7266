import Foundation
import SignetCrypto
import TestSupport
import Testing

/// A program that loaded a key keeps none of the key's text in its memory.
@Suite struct KeyMemoryTests {
    /// Prints which secret members of a JWK Set a process's memory holds as text, and whether it
    /// holds the control. This process never holds the text itself.
    private static let scanner = """
        import json, re, sys
        with open(sys.argv[2]) as file: keys = json.load(file)['keys']
        needles = {'control': sys.argv[3].encode()}
        for key in keys:
            for name in ('k', 'd', 'p', 'q', 'dp', 'dq', 'qi'):
                if name in key: needles[key['kid'] + '.' + name] = key[name][16:40].encode()
        found = set()
        with open('/proc/%s/maps' % sys.argv[1]) as maps, \\
                open('/proc/%s/mem' % sys.argv[1], 'rb', 0) as memory:
            for line in maps:
                span = re.match('([0-9a-f]+)-([0-9a-f]+) rw', line)
                if not span: continue
                at, end = (int(part, 16) for part in span.groups())
                # AddressSanitizer's shadow: terabytes without a byte of the program.
                if end - at > 1 << 38: continue
                tail = b''
                while at < end:
                    try:
                        memory.seek(at)
                        part = memory.read(min(end - at, 1 << 24))
                    except (OSError, OverflowError): break
                    if not part: break
                    found.update(name for name in needles if needles[name] in tail + part)
                    tail = part[-64:]
                    at += len(part)
        print(' '.join(sorted(found)))
        """

    /// Whether a child process may read this one's memory.
    private static let mayScan =
        (try? ChildProcess.runBlocking(
            "python3",
            [
                "-I", "-c", "open('/proc/\(ProcessInfo.processInfo.processIdentifier)/mem', 'rb')",
            ]))?.exit == 0

    @Test(.enabled(if: mayScan), arguments: ["PATH", "command:cat PATH"])
    func noTextOfALoadedKeyIsLeft(_ source: String) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("keys")
        for type in ["rsa", "p256", "p384", "ed25519", "hmac", "vault"] {
            let made = try await SignetTool.run(
                ["keys", "new", "--type", type, "--id", type, "--out", path, "--append"])
            #expect(made.exit == 0)
        }
        let set = try KeySource(source.replacing("PATH", with: path)).load()
        let control = Array(UUID().uuidString.utf8)
        let output = try await ChildProcess.run(
            "python3",
            [
                "-I", "-c", Self.scanner, "\(ProcessInfo.processInfo.processIdentifier)", path,
                String(decoding: control, as: UTF8.self),
            ])
        #expect(output.exit == 0, "\(output.stderr)")
        #expect(output.text == "control\n")
        #expect(set.keys.count == 6 && control.count == 36)
    }
}
