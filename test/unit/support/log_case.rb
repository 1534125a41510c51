# frozen_string_literal: true

require "io/nonblock"
require "bontebok/log/log"

# Helpers for tests of the log. @log writes to a blocking pipe, like the pipe of a shell.
module LogCase
  def setup
    @reader, @writer = IO.pipe
    @writer.nonblock = false
    @log = Bontebok::Log.new(@writer)
  end

  def teardown
    [@reader, @writer].each(&:close)
  end

  private

  def written
    @reader.readpartial(65_536).force_encoding(Encoding::UTF_8)
  end

  # Returns the lines without time, level, process, worker and generation.
  def text_of(output)
    output.sub(/\A(?:\S+ ){5}/, "").lines(chomp: true)
  end
end
