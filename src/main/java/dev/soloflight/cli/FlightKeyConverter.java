package dev.soloflight.cli;

import dev.soloflight.FlightKey;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Takes a flight as logs and errors name it, or as its key stands in Redis. */
final class FlightKeyConverter implements ITypeConverter<FlightKey> {
  private static final Pattern REDIS_KEY = Pattern.compile(".*\\{[^:{}]+:(.+)}");

  @Override
  public FlightKey convert(String text) {
    Matcher key = REDIS_KEY.matcher(text);
    try {
      return FlightKey.parse(key.matches() ? key.group(1) : text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(
          String.valueOf(e.getMessage()) + ", as 'soloflight flights' prints it");
    }
  }
}
