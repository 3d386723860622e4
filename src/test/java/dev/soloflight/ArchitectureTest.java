package dev.soloflight;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.soloflight.internal.store.Acquired;
import dev.soloflight.internal.store.Commit;
import dev.soloflight.interview.AiClient;
import dev.soloflight.interview.AiFile;
import dev.soloflight.interview.AiRequest;
import dev.soloflight.interview.InterviewAiInvoker;
import dev.soloflight.interview.LangChain4jAiClient;
import dev.soloflight.support.TestRedis;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** DESIGN 2 and 7: who may know whom, and what a user can see. */
class ArchitectureTest {
  private static final String ROOT = "dev.soloflight";
  private static final String CLI = ROOT + ".cli..";
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT);

  /**
   * A package and the packages below and beside the road that it may know, the root's own aside.
   */
  record Layer(String name, List<String> mayKnow) {
    Layer(String name, String... mayKnow) {
      this(name, List.of(mayKnow));
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static List<Layer> layers() {
    return List.of(
        new Layer("interview"),
        new Layer(
            "internal.local",
            "internal.coordinator",
            "internal.policy",
            "internal.codec",
            "internal.guard",
            "internal.metrics",
            "internal.time"),
        new Layer(
            "internal.coordinator",
            "internal.store",
            "internal.policy",
            "internal.metrics",
            "internal.time"),
        new Layer("internal.store", "internal.policy", "internal.time"),
        new Layer("internal.guard", "internal.policy", "internal.time"),
        new Layer("internal.policy"),
        new Layer("internal.codec", "internal.policy"),
        new Layer("internal.metrics"),
        new Layer("internal.time"));
  }

  private static String packageOf(String name) {
    return ROOT + "." + name + "..";
  }

  private static void check(ArchRule rule) {
    rule.allowEmptyShould(false).check(MAIN);
  }

  /** That a rule can fail, shown on classes that break it. */
  private static void assertFails(ArchRule rule, Class<?>... culprits) {
    assertThat(rule.evaluate(new ClassFileImporter().importClasses(culprits)).hasViolation())
        .as("%s, broken by %s", rule.getDescription(), List.of(culprits))
        .isTrue();
  }

  // Layers

  @ParameterizedTest
  @MethodSource("layers")
  void a_layer_knows_only_what_is_right_below_and_beside_it(Layer layer) {
    Set<String> others = layers().stream().map(Layer::name).collect(Collectors.toSet());
    others.add("cli");
    others.add("spring");
    others.remove(layer.name());
    others.removeAll(layer.mayKnow());
    String[] forbidden =
        others.stream().map(ArchitectureTest::packageOf).sorted().toArray(String[]::new);
    // What an outcome is made of goes up and down the road as it is.
    DescribedPredicate<JavaClass> words =
        layer.name().equals("internal.local")
            ? belongToAnyOf(Acquired.class, Commit.class)
            : DescribedPredicate.alwaysFalse();
    check(
        noClasses()
            .that()
            .resideInAPackage(packageOf(layer.name()))
            .should()
            .dependOnClassesThat(resideInAnyPackage(forbidden).and(not(words))));
  }

  @Test
  void every_package_has_its_place() {
    Set<String> places = new TreeSet<>(Set.of(ROOT, ROOT + ".cli", ROOT + ".spring"));
    layers().forEach(layer -> places.add(ROOT + "." + layer.name()));
    Set<String> found = new TreeSet<>();
    MAIN.forEach(type -> found.add(type.getPackageName()));
    assertThat(places).containsAll(found);
  }

  @Test
  void only_the_entry_that_puts_the_house_together_knows_its_rooms() {
    check(
        noClasses()
            .that()
            .resideInAPackage(ROOT)
            .and(not(belongToAnyOf(SoloFlight.class)))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ROOT + ".internal..", ROOT + ".interview..", CLI));
  }

  @Test
  void nothing_inside_the_house_knows_the_entry_or_the_facade() {
    check(
        noClasses()
            .that()
            .resideInAPackage(ROOT + ".internal..")
            .should()
            .dependOnClassesThat(belongToAnyOf(SoloFlight.class, StageSettings.class))
            .orShould()
            .dependOnClassesThat()
            .resideInAPackage(ROOT + ".interview.."));
  }

  @Test
  void no_package_depends_on_itself_through_others() {
    check(slices().matching(ROOT + ".internal.(*)..").should().beFreeOfCycles());
  }

  @Test
  void nothing_outside_the_command_line_depends_on_it() {
    check(
        noClasses()
            .that()
            .resideOutsideOfPackage(CLI)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(CLI));
  }

  // Libraries

  private static ArchRule onlyIn(DescribedPredicate<JavaClass> home, String... libraries) {
    return noClasses().that(not(home)).should().dependOnClassesThat().resideInAnyPackage(libraries);
  }

  @Test
  void only_the_store_knows_redis() {
    ArchRule rule =
        onlyIn(
            resideInAnyPackage(ROOT + ".internal.store..", CLI),
            "io.lettuce..",
            "io.netty..",
            "reactor..");
    check(rule);
    assertFails(rule, TestRedis.class);
    check(
        classes()
            .that()
            .haveSimpleName("LettuceFlightStore")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.lettuce.."));
  }

  @Test
  void only_the_command_line_knows_its_libraries() {
    check(onlyIn(resideInAPackage(CLI), "picocli..", "redis.embedded..", "ch.qos.logback.."));
    ArchRule rule =
        onlyIn(
            resideInAPackage(CLI).or(belongToAnyOf(LangChain4jAiClient.class)),
            "dev.langchain4j..");
    check(rule);
    assertFails(onlyIn(resideInAPackage(CLI), "dev.langchain4j.."), LangChain4jAiClient.class);
  }

  @Test
  void only_the_auto_configuration_knows_spring() {
    check(onlyIn(resideInAPackage(ROOT + ".spring.."), "org.springframework.."));
  }

  // What a user sees

  @Test
  void what_is_public_outside_internal_and_the_command_line_is_what_the_design_lists() {
    Set<String> expected = new TreeSet<>();
    for (Class<?> type :
        List.of(
            SoloFlight.class,
            SoloFlight.Builder.class,
            StageSettings.class,
            FlightKey.class,
            FlightTask.class,
            AsyncFlightTask.class,
            FlightContext.class,
            FlightResult.class,
            FlightView.class,
            FlightMode.class,
            Source.class,
            FlightException.class,
            FlightFailedException.class,
            FlightTimeoutException.class,
            CoordinationException.class,
            FlightCancelledException.class,
            FlightConfigException.class,
            InterviewAiInvoker.class,
            AiClient.class,
            AiRequest.class,
            AiFile.class,
            LangChain4jAiClient.class)) {
      expected.add(type.getName());
    }
    for (String nested : List.of("LangChain4jAiClient$Builder")) {
      expected.add(ROOT + ".interview." + nested);
    }
    Set<String> visible = new TreeSet<>();
    for (JavaClass type : MAIN) {
      boolean listed =
          !resideInAnyPackage(ROOT + ".internal..", CLI, ROOT + ".spring..").test(type);
      if (listed && visible(type)) {
        visible.add(type.getName());
      }
    }
    assertThat(visible).isEqualTo(expected);
  }

  private static boolean visible(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC)
        && !type.getSimpleName().equals("package-info")
        && type.getEnclosingClass().map(ArchitectureTest::visible).orElse(true);
  }

  @Test
  void no_signature_a_user_sees_has_an_internal_type() {
    check(
        methods()
            .that()
            .areDeclaredInClassesThat(
                resideInAnyPackage(ROOT, ROOT + ".interview")
                    .and(describe("are public", ArchitectureTest::visible)))
            .and()
            .arePublic()
            .should()
            .notHaveRawReturnType(resideInAPackage(ROOT + ".internal.."))
            .andShould(
                new ArchCondition<JavaMethod>("have no internal parameter") {
                  @Override
                  public void check(JavaMethod method, ConditionEvents events) {
                    boolean internal =
                        method.getRawParameterTypes().stream()
                            .anyMatch(type -> type.getPackageName().startsWith(ROOT + ".internal"));
                    events.add(
                        new SimpleConditionEvent(method, !internal, method.getDescription()));
                  }
                }));
  }

  // State

  @Test
  void there_is_no_static_mutable_state() {
    ArchRule finals =
        fields()
            .that()
            .areStatic()
            .and()
            .doNotHaveModifier(JavaModifier.SYNTHETIC)
            .should()
            .beFinal();
    ArchRule values =
        fields()
            .that()
            .areStatic()
            .and()
            .doNotHaveModifier(JavaModifier.SYNTHETIC)
            .should(holdNothingThatChanges());
    check(finals);
    check(values);
    assertFails(finals, Changing.class);
    assertFails(values, Collecting.class);
    assertFails(values, Counting.class);
    assertFails(values, Remembering.class);
    assertThat(
            values.evaluate(new ClassFileImporter().importClasses(Constant.class)).hasViolation())
        .isFalse();
  }

  static final class Changing {
    static String changing = "";
  }

  static final class Collecting {
    static final Map<String, String> COLLECTING = new HashMap<>();
  }

  static final class Counting {
    static final AtomicInteger COUNTING = new AtomicInteger();
  }

  static final class Remembering {
    static final ThreadLocal<String> REMEMBERING = new ThreadLocal<>();
  }

  static final class Constant {
    static final Map<String, List<Integer>> CONSTANT = Map.of("a", List.of(1));
  }

  private static ArchCondition<JavaField> holdNothingThatChanges() {
    return new ArchCondition<>("hold nothing that changes") {
      @Override
      public void check(JavaField field, ConditionEvents events) {
        Object value = valueOf(field.reflect());
        boolean changes =
            value instanceof ThreadLocal<?>
                || value instanceof StringBuilder
                || kindOf(value).startsWith("a java.util.concurrent.atomic.")
                || ((value instanceof Collection<?> || value instanceof Map<?, ?>)
                    && !unmodifiable(value));
        events.add(
            new SimpleConditionEvent(
                field, !changes, field.getFullName() + " holds " + kindOf(value)));
      }
    };
  }

  private static Object valueOf(Field field) {
    try {
      field.setAccessible(true);
      return field.get(null);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }

  private static String kindOf(Object value) {
    return value == null ? "null" : "a " + value.getClass().getName();
  }

  /** Known kinds, and views of them: those refuse even to be emptied. */
  private static boolean unmodifiable(Object collection) {
    String type = collection.getClass().getName();
    if (type.startsWith("java.util.ImmutableCollections$")
        || type.startsWith("java.util.Collections$Unmodifiable")) {
      return true;
    }
    try {
      if (collection instanceof Map<?, ?> map) {
        map.clear();
      } else {
        ((Collection<?>) collection).clear();
      }
      return false;
    } catch (UnsupportedOperationException e) {
      return true;
    }
  }

  // Time and threads

  private static ArchRule noClockBut(DescribedPredicate<JavaClass> home) {
    return noClasses()
        .that(not(home))
        .should()
        .callMethod(Thread.class, "sleep", long.class)
        .orShould()
        .callMethod(Thread.class, "sleep", long.class, int.class)
        .orShould()
        .callMethod(java.util.concurrent.TimeUnit.class, "sleep", long.class)
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(Instant.class, "now")
        .orShould()
        .callMethod(LocalDate.class, "now")
        .orShould()
        .callMethod(LocalDateTime.class, "now")
        .orShould()
        .callMethod(OffsetDateTime.class, "now")
        .orShould()
        .callMethod(ZonedDateTime.class, "now")
        .orShould()
        .callMethod(Clock.class, "systemUTC")
        .orShould()
        .callMethod(Clock.class, "systemDefaultZone")
        .orShould()
        .callConstructor(Date.class);
  }

  @Test
  void time_comes_from_one_place_and_nobody_sleeps() {
    // The doctor's probe compares this machine's clock with the Redis clock: that is its subject.
    DescribedPredicate<JavaClass> probe =
        describe("the probe", type -> type.getName().equals(ROOT + ".internal.store.RedisProbe"));
    ArchRule rule = noClockBut(resideInAnyPackage(ROOT + ".internal.time..", CLI).or(probe));
    check(rule);
    assertFails(rule, Sleeping.class);
    assertFails(rule, Dating.class);
  }

  static final class Sleeping {
    static void sleep() throws InterruptedException {
      Thread.sleep(1);
    }
  }

  static final class Dating {
    @SuppressWarnings("JavaUtilDate")
    static Object date() {
      return List.of(new Date(), Instant.now());
    }
  }

  @Test
  void no_method_is_synchronized() {
    ArchRule rule =
        methods()
            .should(
                new ArchCondition<JavaMethod>("not be synchronized") {
                  @Override
                  public void check(JavaMethod method, ConditionEvents events) {
                    boolean locks = method.getModifiers().contains(JavaModifier.SYNCHRONIZED);
                    events.add(new SimpleConditionEvent(method, !locks, method.getDescription()));
                  }
                });
    check(rule);
    assertFails(rule, Locking.class);
  }

  static final class Locking {
    synchronized void lock() {}
  }

  // What a user of the library gets with it

  @Test
  void no_library_of_the_command_line_reaches_a_user() throws Exception {
    List<String> reaching = new ArrayList<>();
    List<String> optional = new ArrayList<>();
    Element project =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(Path.of(System.getProperty("basedir", "."), "pom.xml").toFile())
            .getDocumentElement();
    for (Element dependency : children(only(project, "dependencies"), "dependency")) {
      String name = text(dependency, "groupId") + ":" + text(dependency, "artifactId");
      if (text(dependency, "optional").equals("true")) {
        optional.add(name);
      } else if (Set.of("", "compile", "runtime").contains(text(dependency, "scope"))) {
        reaching.add(name);
      }
    }
    assertThat(reaching).as("read from pom.xml").contains("io.lettuce:lettuce-core");
    assertThat(String.join(" ", optional)).contains("picocli", "langchain4j", "logback");
    assertThat(reaching)
        .noneMatch(
            name ->
                List.of("picocli", "langchain4j", "embedded-redis", "logback", "spring").stream()
                    .anyMatch(name::contains));
  }

  private static List<Element> children(Element parent, String name) {
    List<Element> children = new ArrayList<>();
    NodeList nodes = parent.getChildNodes();
    for (int i = 0; i < nodes.getLength(); i++) {
      if (nodes.item(i) instanceof Element element && element.getTagName().equals(name)) {
        children.add(element);
      }
    }
    return children;
  }

  private static Element only(Element parent, String name) {
    List<Element> children = children(parent, name);
    assertThat(children).as("<%s> of <%s>", name, parent.getTagName()).hasSize(1);
    return children.get(0);
  }

  private static String text(Element parent, String name) {
    List<Element> children = children(parent, name);
    return children.isEmpty() ? "" : children.get(0).getTextContent().strip();
  }
}
