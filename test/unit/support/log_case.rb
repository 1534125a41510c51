# frozen_string_literal: true

require "io/nonblock"
require "bontebok/log"

# For tests of the log: @log writes into a pipe that blocks, as a shell's does.
module LogCase
  def setup
    @reader, @writer = IO.pipe
    @writer.nonblock = false
    @log = Bontebok::Log.new(@writer)
  end

  def teardown
    [@reader, @writer].each(&:close)
  end
end
