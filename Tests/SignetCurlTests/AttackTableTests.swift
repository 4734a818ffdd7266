import Foundation
import TestSupport
import Testing

/// Names the tests of each attack on pinning, so that a renamed or removed test is noticed.
///
/// The rows of the first table are behaviours of libcurl 7.88 that were measured before the engine
/// was designed, with the numbers of those measurements. The second table names faulty servers and
/// callers.
@Suite struct AttackTableTests {
    private static let libcurl: [(row: Int, what: String, tests: [String])] = [
        (
            1, "verify callbacks do not run on a resumed session, TLS 1.2 or 1.3",
            ["judgesAResumedSession", "sendsNothingOnAResumedSessionThatIsRefused"]
        ),
        (
            2, "a resumed session has no verified chain; it is kept with the session",
            ["judgesAResumedSession", "sendsNothingOnAResumedSessionThatIsRefused"]
        ),
        (
            3, "the pool takes pins for equal that differ in letter case",
            ["tellsPinsApartThatDifferInLetterCase", "judgesAPooledConnectionByEachCallsPolicy"]
        ),
        (
            4, "the pool ignores the policy that a connection was made under",
            [
                "judgesAPooledConnectionByEachCallsPolicy",
                "judgesByThePolicyOfEachCallWhateverCameBefore",
                "keepsWrongPinsAndNoPinsApartAThousandTimes", "keepsRightAndWrongApartAtOnce",
            ]
        ),
        (
            5, "without peer verification a callback's no is ignored; nothing turns it off",
            ["refusesARogueAuthorityWhateverThePins"]
        ),
        (
            6, "a forged leaf under the pinned intermediate",
            ["refusesAForgedLeafUnderThePinnedIntermediate"]
        ),
        (
            7, "the chain as sent holds what nobody verified",
            ["doesNotTakeAnAppendedIntermediateForAVerifiedOne", "judgesFiftyCertificates"]
        ),
        (
            8, "partial chains hide the root",
            [
                "findsARootPinThoughTheCAFileHoldsTheIntermediateToo",
                "refusesAnIntermediateAloneAsAnAnchor",
            ]
        ),
        (9, "a CA of one handle leaks to others", ["keepsTheTrustOfCallsApart"]),
        (
            10, "pins along redirects, which libcurl never follows",
            ["aRefusedHostSeesNotAByte", "aFollowedHostSeesNoCredentials"]
        ),
        (
            11, "an HTTPS proxy's handshake beside the origin's; no DNS over HTTPS",
            [
                "thePinIsOnTheOrigin", "aWrongPinOnAFreshConnectionSendsNothing",
                "anHTTPSProxysCertificateIsChecked", "nothingElseOfTheEnvironmentDecides",
                "aSessionOfTheProxyIsNotTakenForTheHosts", "noCallWaitsForWhatTheProxysRecordHolds",
            ]
        ),
        (
            12, "spellings of a name, and its pooled connection",
            [
                "appliesTheRuleInEverySpelling", "judgesAPooledConnectionUnderAnotherSpelling",
                "refusesBeforeAnyConnection",
            ]
        ),
        (
            13, "not one byte of a refused request",
            [
                "sendsNotAByteOfARefusedRequest", "refusesAWrongPinAndNamesAllPins",
                "sendsNothingOnAResumedSessionThatIsRefused", "endsAStallByTheCallsTime",
            ]
        ),
        (
            14, "a forged signature has a code of its own",
            ["refusesAForgedLeafUnderThePinnedIntermediate"]
        ),
        (
            15, "after a refusal HTTP/2 keeps the connection",
            ["judgesAPooledConnectionByEachCallsPolicy"]
        ),
    ]

    private static let others: [(what: String, tests: [String])] = [
        (
            "all rows of the first table through one engine, in any order and at once",
            ["noRowIsChangedByWhatCameBefore"]
        ),
        ("renegotiation", ["takesNoSecondHandshake"]),
        ("stalls and drips before and in the handshake", ["endsAStallByTheCallsTime"]),
        ("stalls and drips after it, in header and body", ["namesWhatWentWrong"]),
        ("cuts and garbage in the handshake", ["namesABrokenHandshake"]),
        ("cuts and garbage after it, HTTP/0.9, endless fields", ["namesWhatWentWrong"]),
        (
            "floods of handshake records",
            ["survivesAFloodOfHandshakeRecords", "namesABrokenHandshake"]
        ),
        ("fifty certificates", ["judgesFiftyCertificates"]),
        (
            "a body of a gigabyte",
            ["refusesAGigabyteByItsLength", "holdsAGigabyteBackWhileNobodyReads"]
        ),
        ("lengths and chunks that are none", ["refusesALengthThatIsNone"]),
        ("expired, other hosts', self-signed", ["refusesOtherHostsAndDates"]),
        (
            "callers that leave",
            ["endsEachCallOnceWhenItIsCancelledAtARandomMoment", "endsACancelledCallAtOnce"]
        ),
        ("an engine that stops", ["endsACrowdWhenTheEngineStops", "endsEveryCallAtShutdown"]),
        ("no descriptors", ["namesALackOfDescriptors"]),
        (
            "an interceptor whose CA is trusted, in the host's place and as the proxy",
            [
                "refusesAnInterceptorWhoseAuthorityIsTrusted",
                "refusesAProxyThatInterceptsWhatItIsToConnect",
                "aProxyThatInterceptsIsRefusedWithThePinAndPassesWithout",
            ]
        ),
        (
            "a policy that changes while calls are under way and connections are open",
            [
                "aPooledConnectionIsJudgedByTheNewPolicyAndBackAgain",
                "aCachedSessionIsJudgedByTheNewPolicy",
                "aCallUnderWayKeepsThePolicyThatItBeganWith",
                "eachCallIsJudgedByItsOwnPolicyWhileTwoThreadsSwapThem",
            ]
        ),
    ]

    @Test func namesATestForEachAttack() throws {
        var lines: [Substring] = []
        for folder in ["SignetCurlTests", "SignetClientTests", "signetTests"] {
            let url = PackageLayout.url("Tests/\(folder)")
            for file in try FileManager.default.contentsOfDirectory(atPath: url.path) {
                guard file.hasSuffix(".swift") else { continue }
                let text = try String(contentsOf: url.appending(path: file), encoding: .utf8)
                lines += text.split(separator: "\n", omittingEmptySubsequences: false)
            }
        }
        #expect(Set(Self.libcurl.map(\.row)) == Set(1...15))
        for tests in Self.libcurl.map(\.tests) + Self.others.map(\.tests) {
            #expect(!tests.isEmpty)
            for test in tests { #expect(Self.isTest(test, lines), "\(test)") }
        }
        #expect(!Self.isTest("isTest", lines) && !Self.isTest("nobodyWroteIt", lines))
    }

    /// Whether all functions of that name, one at least, are tests that always run, and no helpers.
    private static func isTest(_ name: String, _ lines: [Substring]) -> Bool {
        let places = lines.indices.filter { lines[$0].contains("func \(name)(") }
        return !places.isEmpty
            && places.allSatisfy { place in
                let start = lines[..<place].lastIndex { $0.isEmpty } ?? 0
                let attribute = lines[start...place].joined(separator: "\n")
                return attribute.contains("@Test") && !attribute.contains("abled")
            }
    }
}
