# frozen_string_literal: true

require_relative "process_tree"

# Used by tests of clients that can harm a worker. Checks that the worker is in the same state as before the clients
# came.
module WorkerWatch
  include ProcessTree

  # Seconds. Long enough to distinguish a process that spins from a process that waits.
  WATCH_SECONDS = 0.3

  # Starts a server with one worker, and stores the worker's pid and descriptors.
  def start_watched(args: [], **options)
    @server = start_bontebok(args: ["-w", "1", "-E", "production", *args], **options)
    @server.get
    @worker = wait_for_workers(@server, 1).first
    @descriptors = descriptors
  end

  # Checks that the worker lives, waits without using the processor, holds no more descriptors than before, and answers.
  def assert_unharmed
    assert_equal 200, @server.get.status # earlier connections have been accepted
    eventually("the descriptors of before: #{@descriptors}", seen: -> { "now: #{descriptors}" }) { none_more? }
    assert_at_rest
    assert_equal [@worker], workers(@server), "the worker was replaced:\n#{@server.output.text}"
  end

  def assert_at_rest
    before = Support::ProcessTable.cpu_seconds(@worker)
    pause
    used = Support::ProcessTable.cpu_seconds(@worker) - before
    assert_operator used, :<, WATCH_SECONDS / 3, "the worker spins"
  end

  # Waits for WATCH_SECONDS without a request.
  def pause
    @server.connect { |client| assert client.quiet?(WATCH_SECONDS) }
  end

  # There may be fewer descriptors than before, because a garbage collection closes files that libraries have opened.
  def none_more?
    descriptors.all? { |kind, count| count <= @descriptors.fetch(kind, 0) }
  end

  # Returns { kind of open file => number of descriptors }. The kind of a socket is without its inode number.
  def descriptors
    Support::ProcessTable.descriptors(@worker).values.map { |file| file[/\A[^\[ ]*/] }.tally
  end
end
