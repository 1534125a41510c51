# frozen_string_literal: true

require_relative "process_tree"

# For tests of what clients do to a worker: whether it is back where it was before they came.
module WorkerWatch
  include ProcessTree

  # Long enough to tell a process that spins from one that waits.
  WATCH_SECONDS = 0.3

  # Starts a server with one worker and takes note of how it is.
  def start_watched(args: [], **options)
    @server = start_bontebok(args: ["-w", "1", "-E", "production", *args], **options)
    @server.get
    @worker = wait_for_workers(@server, 1).first
    @descriptors = descriptors
  end

  # The worker lives, waits without using the processor, holds no descriptor more than before, and answers.
  def assert_unharmed
    assert_equal 200, @server.get.status # whoever came before is accepted
    eventually(10, "the descriptors of before: #{@descriptors}", seen: -> { "now: #{descriptors}" }) { none_more? }
    assert_at_rest
    assert_equal [@worker], workers(@server), "the worker was replaced:\n#{@server.output.text}"
  end

  def assert_at_rest
    before = Support::ProcessTable.cpu_seconds(@worker)
    pause
    used = Support::ProcessTable.cpu_seconds(@worker) - before
    assert_operator used, :<, WATCH_SECONDS / 3, "the worker spins"
  end

  # Time in which this test does nothing.
  def pause
    @server.connect { |client| assert client.quiet?(WATCH_SECONDS) }
  end

  # Fewer may be left: a collection of garbage closes what libraries have opened while they were loaded.
  def none_more?
    descriptors.all? { |kind, count| count <= @descriptors.fetch(kind, 0) }
  end

  # Kinds of open files and how many of each; the numbers of sockets say nothing.
  def descriptors
    Support::ProcessTable.descriptors(@worker).values.map { |file| file[/\A[^\[ ]*/] }.tally
  end
end
