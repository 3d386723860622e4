package dev.soloflight.support;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A redis-server that speaks TLS and nothing else, under a certificate of its own. The embedded
 * binaries cannot; the one that a system's packages bring can.
 */
public final class TlsRedis implements AutoCloseable {
  private static final String PASSWORD = "changeit";

  private final Process process;
  private final Path directory;
  private final int port;
  private final Processes.ExitHook exitHook;

  private TlsRedis(Process process, Path directory, int port) {
    this.process = process;
    this.directory = directory;
    this.port = port;
    exitHook = Processes.onJvmExit(this::stop);
  }

  /** A redis-server on the path that was built with TLS. */
  public static Optional<Path> binary() {
    return Stream.of(String.valueOf(System.getenv("PATH")).split(":", -1))
        .map(folder -> Path.of(folder, "redis-server"))
        .filter(Files::isExecutable)
        .filter(TlsRedis::speaksTls)
        .findFirst();
  }

  private static boolean speaksTls(Path binary) {
    try {
      // One that was built without TLS does not know the option.
      Process asked =
          new ProcessBuilder(binary.toString(), "--port", "0", "--tls-port", "0", "--version-check")
              .redirectErrorStream(true)
              .start();
      String said = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return said.contains("version-check");
    } catch (IOException e) {
      return false;
    }
  }

  /** Starts one; the certificate is for the loopback address. */
  public static TlsRedis start(Path binary) throws Exception {
    Path directory = Files.createTempDirectory("soloflight-tls-redis-");
    Path store = directory.resolve("server.p12");
    run(
        directory,
        Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
        "-genkeypair",
        "-alias",
        "redis",
        "-keyalg",
        "RSA",
        "-dname",
        "CN=redis",
        "-ext",
        "san=ip:" + RedisProcess.HOST,
        "-storetype",
        "PKCS12",
        "-keystore",
        store.toString(),
        "-storepass",
        PASSWORD);
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    pem(
        directory.resolve("key.pem"),
        "PRIVATE KEY",
        keys.getKey("redis", PASSWORD.toCharArray()).getEncoded());
    pem(directory.resolve("cert.pem"), "CERTIFICATE", keys.getCertificate("redis").getEncoded());
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("redis", keys.getCertificate("redis"));
    try (var out = Files.newOutputStream(directory.resolve("trust.p12"))) {
      trusted.store(out, PASSWORD.toCharArray());
    }
    int port = FreePorts.next();
    Process process =
        new ProcessBuilder(
                List.of(
                    binary.toString(),
                    "--bind",
                    RedisProcess.HOST,
                    "--port",
                    "0",
                    "--tls-port",
                    Integer.toString(port),
                    "--tls-cert-file",
                    "cert.pem",
                    "--tls-key-file",
                    "key.pem",
                    "--tls-ca-cert-file",
                    "cert.pem",
                    "--tls-auth-clients",
                    "no",
                    "--save",
                    ""))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("redis.log").toFile())
            .start();
    TlsRedis redis = new TlsRedis(process, directory, port);
    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                Files.readString(directory.resolve("redis.log")).contains("Ready to accept")
                    || !process.isAlive());
    return redis;
  }

  /** How it is reached. */
  public String uri() {
    return "rediss://" + RedisProcess.HOST + ":" + port;
  }

  /** What a JVM has to be started with so that it trusts this server. */
  public String[] trust() {
    return new String[] {
      "-Djavax.net.ssl.trustStore=" + directory.resolve("trust.p12"),
      "-Djavax.net.ssl.trustStorePassword=" + PASSWORD
    };
  }

  @Override
  public void close() {
    exitHook.close();
    stop();
  }

  private void stop() {
    Processes.kill9(process);
    Processes.deleteTree(directory);
  }

  private static void pem(Path file, String kind, byte[] der) throws IOException {
    Files.writeString(
        file,
        "-----BEGIN "
            + kind
            + "-----\n"
            + Base64.getMimeEncoder().encodeToString(der)
            + "\n-----END "
            + kind
            + "-----\n");
  }

  private static void run(Path directory, String... command) throws Exception {
    Process process =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException(command[0] + ": " + said);
    }
  }
}
