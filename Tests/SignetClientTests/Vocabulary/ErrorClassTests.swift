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
        VaultError.Code.wrongKey.value, VaultError.Code.tampered.value,
        VaultError.Code.newerVersion.value, VaultError.Code.olderVersion.value,
        VaultError.Code.otherVersion.value, VaultError.Code.wrongApp.value,
        VaultError.Code.wrongSystem.value, VaultError.Code.unknownKey.value,
        VaultError.Code.keyRevoked.value, VaultError.Code.keyExpired.value,
        VaultError.Code.keyNotYetValid.value, VaultError.Code.wrongKeyUse.value,
        VaultError.Code.rolledBack.value, VaultError.Code.stateTampered.value,
        SigningError.Code.keyTooShort.value, PinRefusal.Code.pinMismatch.value,
        PinRefusal.Code.unlistedHost.value, PinRefusal.Code.policyExpired.value,
        PinRefusal.Code.cleartextToPinnedHost.value, PinError.Code.updateExpired.value,
        PinError.Code.updateNotYetValid.value, PayloadError.Code.rpcError.value,
        PayloadError.Code.httpStatus.value, TransportError.Code.redirectRefused.value,
        ClientError.Code.wrongDigest.value,
    ])
    func aFailedCheck(_ code: ErrorCode) {
        #expect(code.class == .checkFailed)
    }

    @Test(arguments: [
        TransportError.Code.name.value, TransportError.Code.connect.value,
        TransportError.Code.tls.value, TransportError.Code.timeout.value,
        TransportError.Code.offline.value,
        TransportError.Code.cutOff.value, TransportError.Code.malformedResponse.value,
        TransportError.Code.responseTooLarge.value, TransportError.Code.unsupportedEncoding.value,
        TransportError.Code.cancelled.value, TransportError.Code.notRunning.value,
        TransportError.Code.bodyNotReplayable.value, TransportError.Code.resources.value,
        TransportError.Code.tooManyRedirects.value,
        TransportError.Code.proxy.value, TransportError.Code.proxyRefused.value,
        TransportError.Code.proxyAuthentication.value, PayloadError.Code.batchIncomplete.value,
        SigningError.Code.nonceStoreUnavailable.value,
    ])
    func hasTheClassNoResponse(_ code: ErrorCode) {
        #expect(code.class == .noResponse)
    }

    @Test(arguments: [
        VaultError.Code.malformedDump.value, VaultError.Code.malformedKeys.value,
        VaultError.Code.keyFilePermissions.value, VaultError.Code.malformedSchema.value,
        VaultError.Code.unknownConfigKey.value, VaultError.Code.wrongType.value,
        VaultError.Code.outOfRange.value, VaultError.Code.patternMismatch.value,
        VaultError.Code.notInList.value, VaultError.Code.sourceNotAllowed.value,
        VaultError.Code.publicValueLooksSecret.value, VaultError.Code.malformedInput.value,
        VaultError.Code.unreadableFile.value, VaultError.Code.fileBusy.value,
        VaultError.Code.cryptoFailed.value, PinError.Code.malformedPolicy.value,
        PinError.Code.badHost.value, PinError.Code.reportFailed.value,
        SigningError.Code.malformedSignature.value, SigningError.Code.digestMismatch.value,
        SigningError.Code.missingComponent.value, SigningError.Code.nonceStoreFull.value,
        SigningError.Code.nonceStoreFailed.value, TransportError.Code.trustStore.value,
        TransportError.Code.unsupportedTrailers.value,
        TransportError.Code.bodyChanged.value, TransportError.Code.invalidRequest.value,
        PayloadError.Code.invalidParameters.value, PayloadError.Code.reservedMethod.value,
        PayloadError.Code.emptyBatch.value, KeyError.Code.fileExists.value,
        ClientError.Code.unreadableFile.value, TransportError.Code.unsupportedProbe.value,
    ])
    func hasTheClassUsage(_ code: ErrorCode) {
        #expect(code.class == .usage)
    }

    @Test func aFailureOfOpenSSLHasOneCode() {
        let codes = [
            KeyError.Code.cryptoFailed.name, SigningError.Code.cryptoFailed.name,
            PinError.Code.cryptoFailed.name, VaultError.Code.cryptoFailed.name,
        ]
        #expect(Set(codes) == ["crypto-failed"])
    }

    @Test(arguments: [
        TransportError.Code.name.value, TransportError.Code.offline.value,
        TransportError.Code.connect.value, TransportError.Code.tls.value,
        TransportError.Code.timeout.value, TransportError.Code.cutOff.value,
        TransportError.Code.proxy.value, TransportError.Code.proxyRefused.value,
        TransportError.Code.proxyAuthentication.value, PinRefusal.Code.pinMismatch.value,
        PinRefusal.Code.unlistedHost.value, PinRefusal.Code.policyExpired.value,
        PinRefusal.Code.cleartextToPinnedHost.value,
    ])
    func hasTheKindNoResponse(_ code: ErrorCode) {
        #expect(ClientError.Code(code).kind == .noResponse)
    }

    @Test(arguments: [
        PayloadError.Code.rpcError.value, PayloadError.Code.httpStatus.value,
        ClientError.Code.businessCode.value, TransportError.Code.redirectRefused.value,
        TransportError.Code.tooManyRedirects.value,
    ])
    func hasTheKindRefused(_ code: ErrorCode) {
        #expect(ClientError.Code(code).kind == .refused)
    }

    @Test(arguments: [
        TransportError.Code.malformedResponse.value, TransportError.Code.responseTooLarge.value,
        TransportError.Code.unsupportedEncoding.value, PayloadError.Code.batchIncomplete.value,
        ErrorCode.typeMismatch, ClientError.Code.wrongDigest.value,
        ClientError.Code.pagingRefused.value, ClientError.Code.pagingLoop.value,
        ClientError.Code.tooManyPages.value, PinError.Code.malformedUpdate.value,
        PinError.Code.malformedPolicy.value, PinError.Code.updateExpired.value,
        PinError.Code.updateNotYetValid.value,
    ])
    func hasTheKindMalformed(_ code: ErrorCode) {
        #expect(ClientError.Code(code).kind == .malformed)
    }

    @Test(arguments: [
        TransportError.Code.cancelled.value, TransportError.Code.notRunning.value,
        TransportError.Code.bodyNotReplayable.value, TransportError.Code.resources.value,
        TransportError.Code.invalidRequest.value, PayloadError.Code.invalidParameters.value,
        VaultError.Code.wrongKey.value, SigningError.Code.keyTooShort.value,
        ClientError.Code.replaced.value, ClientError.Code.signerFailed.value,
    ])
    func hasTheKindLocal(_ code: ErrorCode) {
        #expect(ClientError.Code(code).kind == .local)
    }
}
