# frozen_string_literal: true

require "bontebok/bontebok"

# Reads a server's totals from outside, as the command `status` does, and sees whether a sum falls.
class TotalsReader
  # The number of slots does not matter for a file.
  ANY = 1
  # Seconds between two looks.
  PAUSE = 0.01

  # pid: of the supervisor.
  def initialize(pid)
    @pid = pid
    @memories = {}
    @sums = {}
    @falls = []
    @lock = Mutex.new
  end

  # Looks again and again while the block runs. Returns the sums that have fallen.
  def watch
    watching = true
    thread = Thread.new do
      while watching
        look
        sleep PAUSE
      end
    end
    yield
    @falls
  ensure
    watching = false
    thread.join
  end

  # The sums over all memories: { responses_2xx: 5, "ended killed" => 1, ... }
  def look
    @lock.synchronize do
      find
      sums = Hash.new(0)
      @memories.each_value { |memory| numbers(memory).each { |name, number| sums[name] += number } }
      @falls += @sums.select { |name, number| sums[name] < number }.to_a
      @sums = sums
    end
  end

  # The texts, the oldest first. kind: :deploy or :end.
  def notes(kind)
    look
    @memories.values.flat_map { |memory| memory.notes(kind) }.sort.map(&:last)
  end

  # True if the end of this worker is counted and noted with this reason.
  def ends?(reason, pid, text)
    look["ended #{reason}"].positive? && notes(:end).any? { |note| note.end_with?("(pid #{pid}): #{text}") }
  end

  # How many memories the supervisor has.
  def memories
    look
    @memories.size
  end

  private

  def numbers(memory)
    totals = memory.totals
    { **totals[:counters], **totals[:names], queue_time: totals[:queue_time].sum }
  end

  # A memory stays, also if the supervisor has closed its file.
  def find
    Dir.glob("/proc/#{@pid}/fd/*").each do |path|
      next unless File.readlink(path).start_with?("/memfd:bontebok-metrics")

      File.open(path) { |file| @memories[file.stat.ino] ||= Bontebok::Core::Metrics.new(ANY, file.fileno) }
    rescue SystemCallError
      next # the descriptor was closed
    end
  end
end
