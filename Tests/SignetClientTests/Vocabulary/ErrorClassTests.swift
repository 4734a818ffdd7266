import SignetBase
import SignetClient
import SignetCrypto
import SignetPinning
import SignetRPC
import SignetSigning
import SignetTransport
import SignetVault
import Testing

/// The classes of the codes, which the tool's exit statuses follow.
@Suite struct ErrorClassTests {
    @Test(arguments: [
        SignetErrorCode.wrongKey, .tampered,
        .newerVersion, .olderVersion,
        .otherVersion, .wrongApp,
        .wrongSystem, .unknownKey,
        .keyRevoked, .keyExpired,
        .keyNotYetValid, .wrongKeyUse,
        .rolledBack, .stateTampered,
        .keyTooShort, .pinMismatch,
        .unlistedHost, .policyExpired,
        .cleartextToPinnedHost, .updateExpired,
        .updateNotYetValid, .rpcError,
        .httpStatus, .redirectRefused,
        .wrongDigest,
    ])
    func aFailedCheck(_ code: SignetErrorCode) {
        #expect(code.class == .checkFailed)
    }

    @Test(arguments: [
        SignetErrorCode.unresolvedHost, .connect,
        .tls, .timeout,
        .offline,
        .cutOff, .malformedResponse,
        .responseTooLarge, .unsupportedEncoding,
        .cancelled, .notRunning,
        .bodyNotReplayable, .resources,
        .tooManyRedirects,
        .proxy, .proxyRefused,
        .proxyAuthentication, .batchIncomplete,
        .nonceStoreUnavailable,
    ])
    func hasTheClassNoResponse(_ code: SignetErrorCode) {
        #expect(code.class == .noResponse)
    }

    @Test(arguments: [
        SignetErrorCode.malformedDump, .malformedKeys,
        .keyFilePermissions, .malformedSchema,
        .unknownConfigKey, .wrongType,
        .outOfRange, .patternMismatch,
        .notInList, .sourceNotAllowed,
        .publicValueLooksSecret, .malformedInput,
        .unreadableFile, .fileBusy,
        .cryptoFailed, .malformedPolicy,
        .badHost, .reportFailed,
        .malformedSignature, .digestMismatch,
        .missingComponent, .nonceStoreFull,
        .nonceStoreFailed, .trustStore,
        .unsupportedTrailers,
        .bodyChanged, .invalidRequest,
        .invalidParameters, .reservedMethod,
        .emptyBatch, .fileExists,
        .unreadableFile, .unsupportedProbe,
    ])
    func hasTheClassUsage(_ code: SignetErrorCode) {
        #expect(code.class == .usage)
    }

    @Test(arguments: [
        SignetErrorCode.unresolvedHost, .offline,
        .connect, .tls,
        .timeout, .cutOff,
        .proxy, .proxyRefused,
        .proxyAuthentication, .pinMismatch,
        .unlistedHost, .policyExpired,
        .cleartextToPinnedHost,
    ])
    func hasTheKindNoResponse(_ code: SignetErrorCode) {
        #expect(code.kind == .noResponse)
    }

    @Test(arguments: [
        SignetErrorCode.rpcError, .httpStatus,
        .businessCode, .redirectRefused,
        .tooManyRedirects,
    ])
    func hasTheKindRefused(_ code: SignetErrorCode) {
        #expect(code.kind == .refused)
    }

    @Test(arguments: [
        SignetErrorCode.malformedResponse, .responseTooLarge,
        .unsupportedEncoding, .batchIncomplete,
        .typeMismatch, .wrongDigest,
        .pagingRefused, .pagingLoop,
        .tooManyPages, .malformedUpdate,
        .malformedPolicy, .updateExpired,
        .updateNotYetValid,
    ])
    func hasTheKindMalformed(_ code: SignetErrorCode) {
        #expect(code.kind == .malformed)
    }

    @Test(arguments: [
        SignetErrorCode.cancelled, .notRunning,
        .bodyNotReplayable, .resources,
        .invalidRequest, .invalidParameters,
        .wrongKey, .keyTooShort,
        .replaced, .signerFailed,
    ])
    func hasTheKindLocal(_ code: SignetErrorCode) {
        #expect(code.kind == .local)
    }
}
