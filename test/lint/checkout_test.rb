# frozen_string_literal: true

require_relative "checks"

# Builds a checkout in a path with a space. make and mkmf do not expect such a path.
class CheckoutTest < Lint::TestCase
  SOURCES = %w[bin exe ext lib core/src core/include load/src].freeze
  BUILT = %w[lib/bontebok/bontebok.so lib/bontebok/bontebok-bench].freeze

  if Support::Length::LONG
    def test_the_build_works_in_a_path_with_a_space
      checkout = copy_to(File.join(temp_dir, "a path/bonte bok"))
      built = Support::ChildProcess.run("#{checkout}/bin/setup", "--build", limit: 300)
      assert_predicate built.status, :success?, built.output.text
      BUILT.each { |path| assert_path_exists File.join(checkout, path) }
    end
  end

  private

  def copy_to(checkout)
    SOURCES.each do |directory|
      FileUtils.mkdir_p(File.dirname(File.join(checkout, directory)))
      FileUtils.cp_r(File.join(ROOT, directory), File.join(checkout, directory))
    end
    BUILT.each { |path| FileUtils.rm_f(File.join(checkout, path)) }
    checkout
  end
end
