import SignetBase
import SignetTransport
import TestSupport
import Testing

@testable import SignetClient

/// When lists of addresses are fetched, expire and are refused.
@Suite struct AddressScheduleTests {
    private static let day = Duration.seconds(86_400)

    private static func list(
        issued: Int64? = nil, expires: Int64? = nil
    ) throws -> AddressListContents {
        AddressListContents(
            addresses: try ServiceAddress.list(["192.0.2.1"]), issued: issued, expires: expires)
    }

    /// One list's failures don't stop the others.
    @Test func eachListHasTimesOfItsOwn() {
        var (good, bad) = (AddressSchedule(), AddressSchedule())
        #expect(good.isDue && bad.isDue)
        good.waitADay(random: 0.5)
        var passed = Duration.zero
        for _ in 0..<40 {
            bad.waitAfterFailure(.seconds(60), random: 1)
            let pause = min(good.next, bad.next)
            passed += pause
            good.pass(pause)
            bad.pass(pause)
            if good.isDue { break }
        }
        #expect(good.isDue && passed == Self.day)
    }

    @Test func pausesDouble() {
        var schedule = AddressSchedule()
        for seconds in [60, 120, 240] {
            schedule.waitAfterFailure(.seconds(60), random: 1)
            #expect(schedule.next == .seconds(seconds))
        }
        for _ in 0..<40 { schedule.waitAfterFailure(.seconds(60), random: 1) }
        #expect(schedule.next == Self.day)
    }

    @Test func aListExpiresWhileItIsUsed() throws {
        var schedule = AddressSchedule()
        schedule.take(try Self.list(issued: 1, expires: 1_100), now: 1_000)
        schedule.waitADay(random: 0)
        // A new one is fetched before.
        #expect(schedule.next == .seconds(80) && !schedule.hasExpired)
        schedule.pass(.seconds(80))
        #expect(schedule.isDue && !schedule.hasExpired)
        schedule.waitAfterFailure(.seconds(60), random: 1)
        #expect(schedule.next == .seconds(20))
        schedule.pass(.seconds(20))
        #expect(schedule.hasExpired && !schedule.isDue)
        schedule.drop()
        #expect(!schedule.hasExpired && schedule.next == .seconds(40))
    }

    @Test func anOlderListIsRefused() throws {
        var schedule = AddressSchedule()
        try schedule.requireNewer(Self.list(issued: 5))
        schedule.take(try Self.list(issued: 5, expires: 9), now: 1)
        schedule.drop()
        try schedule.requireNewer(Self.list(issued: 5))
        let error = #expect(throws: ClientError.self) {
            try schedule.requireNewer(Self.list(issued: 4))
        }
        #expect(error?.code == .rolledBack)
    }

    @Test func aListIsForOneOrigin() throws {
        var list = try Self.list()
        let origin = try WebOrigin(scheme: "https", authority: "api.example.com")
        let other = try WebOrigin(scheme: "https", authority: "api.example.com:8443")
        #expect(list.addresses(for: other)?.count == 1)
        list.origin = origin
        #expect(list.addresses(for: origin)?.count == 1 && list.addresses(for: other) == nil)
    }

    @Test func aFileOfAnotherURLIsNotUsed() throws {
        let folder = try TemporaryDirectory()
        func list(_ url: String) -> AddressList {
            AddressList(
                service: "a", plan: AddressListPlan(url: url, file: folder.path("kept.json")))
        }
        let first = list("https://lists.example.com/a")
        try first.keep(
            Array(#"{"addresses":["192.0.2.1"]}"#.utf8), fetchedAt: 7, issued: nil)
        #expect(try first.kept(for: nil, now: 8)?.fetchedAt == 7)
        let error = #expect(throws: ClientError.self) {
            try list("https://lists.example.com/b").kept(for: nil, now: 8)
        }
        #expect(error?.code == .malformedResponse)
    }
}
