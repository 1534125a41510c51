# frozen_string_literal: true

require "bontebok/processes/forked_process"

# A ForkedProcess that nobody has forked. A test says what the process does, and reads what it was told.
class FakeProcess < Bontebok::ForkedProcess
  # The parent's end of the channel.
  Line = Struct.new(:process) do
    def say(word) = process.told(word)
    def hear = process.speak
    def unsent = ""
    def send_later(_bytes) = nil
    def close = process.hang_up
  end

  # words: what it was told, oldest first. signals: those that it has got.
  attr_reader :words, :signals

  def initialize(pid)
    super(pid, Line.new(self))
    @said = []
    @words = []
    @signals = []
  end

  # --- what the process does ---

  # :closed: it closes its channel.
  def says(*words)
    @said.concat(words)
  end

  # ending: in the words of the log.
  def ends(ending = "exit status 1")
    @end = ending
  end

  # --- what its parent does ---

  def told(word) = @words << word

  def speak = @said.shift(Bontebok::Channel::MOST)

  def hang_up = @hung_up = true

  def hung_up? = @hung_up == true

  def check = @ending = @end

  def signal(name)
    @signals << name
    ends("killed by SIGKILL") if name == :KILL
  end
end
