import Foundation
import SignetJSON
import SignetRPC
import TestSupport
import Testing

@testable import SignetRPCStreams

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Streams of the system: children, pipes and sockets, and how they end.
struct StreamTests {
    @Test func aChildExchangesMoreThanAPipeHolds() async throws {
        let child = try ChildStream("cat")
        let sent = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        async let written: Void = child.write(sent)
        var found: [UInt8] = []
        while found.count < sent.count { found += try await child.read(atMost: 100_000) }
        try await written
        #expect(found == sent)
        child.close()
        #expect(await child.ended() == 0)
    }

    @Test(arguments: ["", "/nowhere/at/all", "a\u{0}b", "/"])
    func aProgramThatCannotBeStarted(_ program: String) {
        let error = #expect(throws: RPCStreamError.self) { try ChildStream(program) }
        #expect(error?.code == .startFailed)
    }

    /// No SIGPIPE reaches the program.
    @Test func writingToAnEndedChildFails() async throws {
        let child = try ChildStream("sh", arguments: ["-c", "exit 3"])
        #expect(await child.ended() == 3)
        #expect(try await child.read(atMost: 10).isEmpty)
        let error = await #expect(throws: RPCStreamError.self) { try await child.write([1]) }
        #expect(error?.code == .writeFailed)
        child.close()
        child.close()
        await #expect(throws: RPCStreamError.self) { try await child.read(atMost: 1) }
    }

    /// Others that were opened for children to have, as C libraries and careless programs do.
    @Test func aChildHasNoDescriptorButItsThree() async throws {
        let inheritable = dup(STDERR_FILENO)
        defer { close(inheritable) }
        let child = try ChildStream(
            "sh", arguments: ["-c", "[ -e /proc/$$/fd/2 ] && [ ! -e /proc/$$/fd/\(inheritable) ]"])
        #expect(await child.ended() == 0)
        child.close()
    }

    @Test func closingEndsAReadUnderWay() async throws {
        let child = try ChildStream("cat", gracePeriod: .zero)
        let read = Task { try await child.read(atMost: 1) }
        let write = Task { try await child.write(Array(repeating: 0, count: 10_000_000)) }
        child.close()
        // A read that had not begun finds the stream closed.
        await #expect(throws: RPCStreamError.self) { try await read.value }
        await #expect(throws: RPCStreamError.self) { try await write.value }
        _ = await child.ended()
    }

    @Test func aChildThatDoesNotEndIsMadeTo() async throws {
        let stubborn = try ChildStream(
            "sh", arguments: ["-c", "trap '' TERM; while :; do sleep 0.1; done"],
            gracePeriod: .milliseconds(100))
        stubborn.close()
        #expect(await stubborn.ended() == 137)
        let willing = try ChildStream(
            "sh", arguments: ["-c", "while :; do sleep 0.1; done"], gracePeriod: .milliseconds(100))
        willing.close()
        #expect([137, 143].contains(await willing.ended()))
    }

    @Test func aSocket() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "socket").path
        let server = try await ServerProcess.start(
            "python3", ["-I", PythonPeer.script("unix-echo"), path], ready: .output("ready"))
        let connection = RPCConnection(try DescriptorStream(socketAt: path), options: .modelContext)
        // The server sends our request back, which has no handler here, and then our response.
        #expect(await outcome { try await connection.call("a") } == "rpc-error")
        connection.close()
        try await server.stop()
        for path in [path + "x", path + "\0x", String(repeating: "x", count: 200)] {
            let error = #expect(throws: RPCStreamError.self) {
                try DescriptorStream(socketAt: path)
            }
            #expect(error?.code == .connect)
        }
    }

    /// A batch over TCP on this machine, by IPv4 and by IPv6.
    @Test(arguments: ["127.0.0.1", "::1"])
    func aPortOfThisMachine(_ address: String) async throws {
        // A machine without IPv6 has no such port.
        let six = try? String(contentsOfFile: "/proc/net/if_inet6", encoding: .ascii)
        let loopback = String(repeating: "0", count: 31) + "1 "
        guard address == "127.0.0.1" || six?.contains(loopback) == true else { return }
        let port = freePort()
        let server = try await ServerProcess.start(
            "python3", ["-I", PythonPeer.script("batch-echo"), "\(port)", address],
            ready: .output("ready"))
        let connection = RPCConnection(
            try DescriptorStream(loopbackPort: UInt16(port)), options: .modelContext)
        for number in Int64(0)..<50 {
            let value = JSONValue.number(JSONNumber(number))
            let found = try await connection.batch([
                RPCCall("a", parameters: .array([value])), RPCCall("b", parameters: .array(["x"])),
            ])
            #expect(found == [.result(RPCResult(.array([value]))), .result(RPCResult(["x"]))])
        }
        connection.close()
        try await server.stop()
    }

    @Test func aPortWithoutAServerIsAnError() throws {
        let error = #expect(throws: RPCStreamError.self) {
            try DescriptorStream(loopbackPort: UInt16(freePort()))
        }
        #expect(error?.code == .connect)
    }

    @Test func refusesInvalidDescriptors() async throws {
        let stream = try DescriptorStream(reading: 1_000_000, writing: 1_000_001)
        await #expect(throws: RPCStreamError.self) { try await stream.read(atMost: 1) }
        await #expect(throws: RPCStreamError.self) { try await stream.write([1]) }
    }
}
