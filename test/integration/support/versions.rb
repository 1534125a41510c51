# frozen_string_literal: true

# The versions of a file, for tests that replace the file while clients get it. Version n is the number n on each line,
# so a mixture of two versions is recognised.
class Versions
  LINE = "%07d\n"

  def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  # size: about the bytes of each version.
  def initialize(path, size)
    @path = path
    @lines = size / format(LINE, 0).bytesize
    @replaced = [] # for each version, the time when the next one was in its place
    replace
  end

  # The number of the present version.
  def last = @replaced.size - 1

  # Makes the next version, and renames it to the file.
  def replace
    number = @replaced.size
    File.write("#{@path}.new", text(number))
    @replaced << nil
    File.rename("#{@path}.new", @path)
    @replaced[number - 1] = Versions.now if number.positive?
  end

  # Seconds from the replacement of a version to `time`. 0: it is not replaced.
  def age(number, time)
    replaced = @replaced[number]
    replaced ? time - replaced : 0
  end

  # Returns the number of the version, or nil if the text is not a whole version.
  def number(text)
    number = text.to_i
    number if number < @replaced.size && text == text(number)
  end

  private

  # Every fifth version is shorter.
  def text(number) = format(LINE, number) * ((number % 5).zero? ? @lines - 1 : @lines)
end
