import Foundation
import Logging
import SignetClient
import SignetCrypto
import SignetJSON
import SignetRPC
import SignetVault
import Synchronization
import TestSupport
import Testing

/// The sealed file of the last good values: which contents are used, and which are refused.
@Suite struct FetchedFileTests {
    @Test(arguments: [
        ("other app", "wrong-app"), ("other version", "older-version"), ("other root", "wrong-key"),
        ("changed", "tampered"), ("cut short", "malformed-dump"), ("no dump", "malformed-dump"),
        ("whole configuration", "malformed-input"), ("schema", "out-of-range"),
    ])
    func anotherFileThanLastGoodValuesIsRefused(_ what: String, _ code: String)
        async throws
    {
        var fixture = try await FetchFixture()
        try await fixture.startOnce()
        let path = fixture.folder.path("fetched.dump")
        var bytes = try fixture.dump()
        switch what {
        case "other app":
            fixture.plan.lastGood = try FetchFixture.place(path, app: "com.example.other")
        case "other version": fixture.plan.lastGood = try FetchFixture.place(path, version: "1.5.0")
        case "other root": fixture.plan.lastGood = try FetchFixture.place(path, root: "Wlpb")
        case "changed":
            bytes[bytes.count - 40] = bytes[bytes.count - 40] == 65 ? 66 : 65
            try fixture.folder.write(bytes, to: "fetched.dump")
        case "cut short": try fixture.folder.write(bytes.dropLast(), to: "fetched.dump")
        case "no dump": try fixture.folder.write("shop.name", to: "fetched.dump")
        case "whole configuration":
            let whole = try GlobalConfiguration(
                schema: Schema(fixture.schema), defaults: .values(fixture.defaults),
                fetched: .values(["shop.limit": 9]))
            let place = try FetchFixture.place(path)
            try place.file.seal(whole, with: place.sealing.keys, for: place.sealing.binding)
        default:
            let narrower = fixture.schema.text.replacingOccurrences(
                of: #""maximum":10"#, with: #""maximum":2"#)
            fixture.schema = try JSONValue(parsing: narrower)
        }
        try fixture.serve(text: "{")
        let program = fixture
        let error = await #expect(throws: ClientError.self) { try await program.start() }
        #expect(error?.code.name == "malformed-response")
        #expect(error?.message.contains(code) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("ZZZZZZ") == false)
        try await fixture.host.stop()
    }

    @Test func anOlderVersionsValuesAreUsedIfAllowed() async throws {
        var fixture = try await FetchFixture()
        try await fixture.startOnce()
        let path = fixture.folder.path("fetched.dump")
        fixture.plan.lastGood = try FetchFixture.place(path, version: "1.5.0", accepting: ["1.4.2"])
        try fixture.serve(text: "{")
        try await FetchTests.expectLastGood(fixture, "malformed-response")
        // The same values are sealed again for the running version.
        try fixture.serve(FetchFixture.good)
        let system = try await fixture.start()
        #expect(system.startReport.fetch?.kept?.sequence == 2)
        await system.shutdown()
        try await fixture.host.stop()
    }

    @Test(arguments: ["other app", "whole configuration", "no dump"])
    func aForeignFileIsNotReplaced(_ what: String) async throws {
        let fixture = try await FetchFixture()
        let path = fixture.folder.path("fetched.dump")
        let whole = try GlobalConfiguration(
            schema: Schema(fixture.schema), defaults: .values(fixture.defaults))
        let place = try FetchFixture.place(
            path, app: what == "other app" ? "com.example.other" : FetchFixture.app)
        try place.file.seal(whole, with: place.sealing.keys, for: place.sealing.binding)
        if what == "no dump" { try fixture.folder.write("a letter", to: "fetched.dump") }
        let before = try fixture.dump()
        let system = try await fixture.start()
        let fetch = try #require(system.startReport.fetch)
        #expect(fetch.source == .fetched)
        #expect(fetch.kept == nil)
        #expect(fetch.keepingFailure != nil)
        #expect(try fixture.dump() == before)
        await system.shutdown()
        try await fixture.host.stop()
    }

    @Test func aReadOnlyFolderDoesNotStopTheSystem() async throws {
        var fixture = try await FetchFixture()
        fixture.plan.lastGood = try FetchFixture.place(
            fixture.folder.path("nowhere/fetched.dump"))
        let system = try await fixture.start()
        #expect(system.startReport.fetch?.source == .fetched)
        #expect(system.startReport.fetch?.keepingFailure != nil)
        await system.shutdown()
        try await fixture.host.stop()
    }
}
