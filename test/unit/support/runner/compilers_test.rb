# frozen_string_literal: true

require "test_helper"
require "support/runner/costs"
require "support/runner/group"

# Tests how bin/test counts calls of compilers. Scripts stand in for the compilers.
class CompilersTest < Support::TestCase
  def setup
    @path = ENV.fetch("PATH")
    compiler("gcc", 'echo "gcc: $*"; exit 3')
    compiler("cc", 'exec gcc "$@"')
    ENV["PATH"] = "#{File.join(temp_dir, "it's here")}:#{@path}"
  end

  def teardown
    ENV["PATH"] = @path
  end

  def test_each_call_of_a_compiler_counts
    job = run_job("gcc -c 'a b.c'; sh -c 'gcc -fsyntax-only b.c'; make -s -f - <<<'all:; gcc -o a'")
    assert_equal 3, job.compiler_calls
    assert_equal "gcc: -c a b.c\ngcc: -fsyntax-only b.c\ngcc: -o a\n", job.output[/\A(gcc: .*\n)+/]
  end

  def test_the_exit_status_is_that_of_the_compiler
    assert_match(/\Agcc: x\n3\n\z/, run_job("gcc x; echo $?").output)
  end

  def test_a_compiler_that_calls_another_compiler_counts_once
    job = run_job("cc -c a.c")
    assert_equal [1, "gcc: -c a.c\n"], [job.compiler_calls, job.output]
  end

  def test_the_compiler_of_ruby_counts
    assert_includes Runner::Compilers::NAMES, RbConfig::CONFIG["CC"][/\S+/]
  end

  def test_a_job_without_a_compiler_has_no_calls
    assert_equal 0, run_job("true").compiler_calls
  end

  def test_the_calls_of_a_group_have_a_limit
    group = Runner::Group.new("core", "", jobs: -> { ["gcc 1; gcc 2", "gcc 3"].map { |text| new_job(text) } })
    group.choose(false)
    group.jobs.each_with_index { |job, number| finish(job, number) }
    within, above = [3, 2].map do |limit|
      Runner::Costs.new([group], limits: { "core" => { "compiler calls" => limit } }).excess
    end
    assert_equal [[], ["core: 3 compiler calls, the limit is 2 (costs.json)"]], [within, above]
  end

  private

  def compiler(name, script)
    File.chmod(0o755, temp_file("it's here/#{name}", "#!/bin/sh\n#{script}\n"))
  end

  def new_job(script) = Runner::Job.new("bash", "-c", script)

  def run_job(script) = finish(new_job(script))

  def finish(job, number = 0)
    job.start(File.join(temp_dir, "job-#{number}"))
    eventually { job.ended? }
    job
  end
end
